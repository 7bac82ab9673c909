// Decides whether a wallet is real or stub for a program, and whether a change of a member has to be pushed. The API's
// answer, the member that the API shows and the push itself all use these functions (docs/interface.md, sections 1.6,
// 2.6 and 10.1).

import type { MemberRow } from '../members/members.rows.js';
import type { Program } from '../programs/programs.schema.js';
import type { PassUpdate, WalletModes } from '../shared/passUpdate.schema.js';

export function modesOf(configured: WalletModes, program: Pick<Program, 'pushMessages'>): WalletModes {
  return program.pushMessages ? configured : { apple: 'stub', google: 'stub' };
}

/** True when the member has a device or a saved Google pass to push to. */
export function hasRecipients(modes: WalletModes, member: Pick<MemberRow, 'deviceCount' | 'pass'>): boolean {
  return (
    (modes.apple === 'real' && member.deviceCount > 0) || (modes.google === 'real' && member.pass.googleSaved === true)
  );
}

/**
 * The `passUpdate` of a change that needs no push. `rebuilt` is true in real mode, because the pass's download URL
 * serves the signed file of the new version from now on.
 */
export function passUpdateWithoutPush(
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
