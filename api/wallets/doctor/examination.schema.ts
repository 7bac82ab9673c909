// What the pass doctor knows about one pass.

import type { RealAppleCredentials } from '../../../activities/wallets/apple/credentials.rules.js';
import type { MemberRow, TimelineRow } from '../../../schemas/members/members.rows.js';
import type { Platform, WalletMode } from '../../../schemas/shared/passUpdate.schema.js';
import type { DeviceLogRow, DeviceRow } from '../../../schemas/wallets/wallets.rows.js';

export interface Examination {
  member: MemberRow;
  modes: Record<Platform, { mode: WalletMode; reason?: string }>;
  credentials: RealAppleCredentials | null;
  /** Whether the pass could be built; null in stub mode. */
  build: { ok: true; bytes: number } | { ok: false; error: string } | null;
  webServiceUrl: string;
  devices: DeviceRow[];
  logs: DeviceLogRow[];
  googleObjectId: string | null;
  lastPatch: TimelineRow | null;
  findings: string[];
}
