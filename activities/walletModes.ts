// Real or stub, and whether a change of a member has anybody to reach: the one place that decides it, for the answer of the
// API, the member that is shown and the push itself (interface 1.4, 2.6; decisions.md "push messages off").
import type { MemberRow } from '../schemas/collections.js';
import type { PassUpdate } from '../schemas/passUpdate.js';
import type { Program } from '../schemas/programs.js';
import type { WalletModes } from './deps.js';

export function modesOf(configured: WalletModes, program: Pick<Program, 'pushMessages'>): WalletModes {
  return program.pushMessages ? configured : { apple: 'stub', google: 'stub' };
}

/** True when a device or a saved object waits for this member's changes. */
export function hasAudience(modes: WalletModes, member: Pick<MemberRow, 'deviceCount' | 'pass'>): boolean {
  return (
    (modes.apple === 'real' && member.deviceCount > 0) || (modes.google === 'real' && member.pass.googleSaved === true)
  );
}

/** What `passUpdate` says when nobody had to be told. The signed file of the new version is what its address gives from now on. */
export function quietPassUpdate(
  modes: WalletModes,
  member: Pick<MemberRow, 'serialNumber' | 'deviceCount' | 'pass'>,
): PassUpdate {
  return {
    serialNumber: member.serialNumber,
    lastUpdateTag: member.pass.tag.toISOString(),
    rebuilt: modes.apple === 'real',
    apple: { devicesNotified: 0, devicesAttempted: member.deviceCount, mode: modes.apple },
    google: { objectPatched: false, mode: modes.google },
  };
}
