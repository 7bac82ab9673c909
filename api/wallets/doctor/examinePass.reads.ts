// Collects what this service knows about one pass, including what the phones reported. It changes nothing and sends
// nothing to Apple or Google.

import type { Wallets } from '../../../activities/wallets/wallets.client.js';
import type { Deps } from '../../../platform/deps.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import type { Platform } from '../../../schemas/shared/passUpdate.schema.js';
import { makeGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import { modesOf } from '../../../schemas/wallets/walletModes.rules.js';
import type { Examination } from './examination.schema.js';
import { findingsOf } from './findings.rules.js';

const shownLogs = 20;

export async function examinePass(
  deps: Deps & { wallets: Wallets },
  { member, program }: { member: MemberRow; program: Program },
): Promise<Examination> {
  const { _id: memberId, serialNumber } = member;
  const [devices, logs, lastPatch] = await Promise.all([
    deps.collections.devices.find({ memberId }).sort({ registeredAt: 1 }).toArray(),
    deps.collections.deviceLogs.find({ serialNumber }).sort({ receivedAt: -1 }).limit(shownLogs).toArray(),
    deps.collections.timeline.findOne(
      { memberId, type: 'google_object_patched' },
      { sort: { occurredAt: -1, _id: -1 } },
    ),
  ]);
  const { apple, google } = deps.wallets;
  const examined: Omit<Examination, 'findings'> = {
    member,
    modes: { apple: modeOf(deps, program, 'apple'), google: modeOf(deps, program, 'google') },
    credentials: apple?.credentials ?? null,
    build: apple && deps.walletModes.apple === 'real' ? await tryBuild(apple.build(member, program)) : null,
    webServiceUrl: `${deps.config.PUBLIC_URL}/wallet/apple`,
    devices,
    logs,
    googleObjectId: google ? makeGoogleObjectId(google.credentials.issuerId, memberId) : null,
    lastPatch,
  };
  return { ...examined, findings: findingsOf(examined, deps.now()) };
}

/** Why a wallet is in stub mode for every member; null in real mode. */
export function stubReason(
  { wallets, walletModes }: Pick<Deps, 'walletModes'> & { wallets: Wallets },
  platform: Platform,
) {
  if (walletModes[platform] === 'real') return null;
  return wallets.reasons[platform] ?? 'The certificates have expired.';
}

function modeOf(deps: Deps & { wallets: Wallets }, program: Program, platform: Platform) {
  const mode = modesOf(deps.walletModes, program)[platform];
  if (mode === 'real') return { mode };
  return { mode, reason: stubReason(deps, platform) ?? "The program's push messages are off." };
}

async function tryBuild(build: Promise<Buffer>): Promise<NonNullable<Examination['build']>> {
  try {
    return { ok: true, bytes: (await build).length };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}
