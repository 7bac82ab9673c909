// Gathers what is known of one pass, on our side and on the phones'. It changes nothing and asks nobody outside.
import type { DeviceLogRow, DeviceRow, MemberRow, TimelineRow } from '../../schemas/collections.js';
import { makeGoogleObjectId } from '../../schemas/googleIds.js';
import type { Platform, WalletMode } from '../../schemas/passUpdate.js';
import type { Program } from '../../schemas/programs.js';
import type { RealAppleCredentials } from '../apple/credentials.js';
import type { Store } from '../deps.js';
import { modesOf } from '../walletModes.js';
import { findingsOf } from './findings.js';
import type { Wallets } from './wallets.js';

export interface Examination {
  member: MemberRow;
  modes: Record<Platform, { mode: WalletMode; reason?: string }>;
  credentials: RealAppleCredentials | null;
  /** Null in stub mode. */
  build: { ok: true; bytes: number } | { ok: false; error: string } | null;
  webServiceUrl: string;
  devices: DeviceRow[];
  logs: DeviceLogRow[];
  googleObjectId: string | null;
  lastPatch: TimelineRow | null;
  findings: string[];
}

const shownLogs = 20;

export async function examinePass(
  deps: Store & { wallets: Wallets },
  { member, program }: { member: MemberRow; program: Program },
): Promise<Examination> {
  const { _id: memberId, serialNumber } = member;
  const [devices, logs, lastPatch] = await Promise.all([
    deps.rows.devices.find({ memberId }).sort({ registeredAt: 1 }).toArray(),
    deps.rows.deviceLogs.find({ serialNumber }).sort({ receivedAt: -1 }).limit(shownLogs).toArray(),
    deps.rows.timeline.findOne({ memberId, type: 'google_object_patched' }, { sort: { occurredAt: -1, _id: -1 } }),
  ]);
  const { apple, google } = deps.wallets;
  const examined: Omit<Examination, 'findings'> = {
    member,
    modes: { apple: modeOf(deps, program, 'apple'), google: modeOf(deps, program, 'google') },
    credentials: apple?.credentials ?? null,
    build: apple && deps.walletModes.apple === 'real' ? tryBuild(() => apple.build(member, program)) : null,
    webServiceUrl: `${deps.config.PUBLIC_URL}/wallet/apple`,
    devices,
    logs,
    googleObjectId: google ? makeGoogleObjectId(google.credentials.issuerId, memberId) : null,
    lastPatch,
  };
  return { ...examined, findings: findingsOf(examined, deps.now()) };
}

/** Why a wallet is stub for every member; null where it is real. */
export function stubReason(
  { wallets, walletModes }: Pick<Store, 'walletModes'> & { wallets: Wallets },
  platform: Platform,
) {
  if (walletModes[platform] === 'real') return null;
  return wallets.reasons[platform] ?? 'The certificates have expired.';
}

function modeOf(deps: Store & { wallets: Wallets }, program: Program, platform: Platform) {
  const mode = modesOf(deps.walletModes, program)[platform];
  if (mode === 'real') return { mode };
  return { mode, reason: stubReason(deps, platform) ?? "The program's push messages are off." };
}

function tryBuild(build: () => Buffer): NonNullable<Examination['build']> {
  try {
    return { ok: true, bytes: build().length };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}
