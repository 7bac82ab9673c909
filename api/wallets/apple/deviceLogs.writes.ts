// Stores the problems that phones report. The endpoint needs no credential, so what is kept is bounded: 20 lines in a
// call, 1,000 characters in a line, WALLET_LOG_LINES_PER_PASS lines an hour about one pass, kept for 7 days (the TTL of
// the collection). Lines that name no pass of this service are counted by address.

import { newId } from '../../../schemas/shared/ids.js';
import type { DeviceLogRow } from '../../../schemas/wallets/wallets.rows.js';
import type { ApiDeps } from '../../http/apiDeps.js';

const maxLines = 20;
const maxLength = 1_000;
const serialIn = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** `refused` is true when none of the lines could be stored. */
export async function storeDeviceLogs(
  deps: ApiDeps,
  { lines, address }: { lines: readonly string[]; address: string },
): Promise<{ refused: boolean }> {
  const messages = lines.slice(0, maxLines).map((line) => line.slice(0, maxLength));
  const known = await knownSerials(deps, new Set(messages.flatMap(serialOf)));
  const rows: DeviceLogRow[] = [];
  for (const message of messages) {
    const [serialNumber] = serialOf(message).filter((serial) => known.has(serial));
    const { exceeded } = await deps.limits.count('deviceLogs', serialNumber ?? `address:${address}`);
    if (exceeded) continue;
    rows.push({ _id: newId(), message, receivedAt: deps.now(), ...(serialNumber && { serialNumber }) });
  }
  if (rows.length > 0) await deps.collections.deviceLogs.insertMany(rows);
  return { refused: messages.length > 0 && rows.length === 0 };
}

const serialOf = (message: string): string[] => serialIn.exec(message)?.map((serial) => serial.toLowerCase()) ?? [];

async function knownSerials({ collections }: ApiDeps, serials: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  if (serials.size === 0) return serials;
  const members = await collections.members
    .find({ serialNumber: { $in: [...serials] } }, { projection: { serialNumber: 1 } })
    .toArray();
  return new Set(members.map(({ serialNumber }) => serialNumber));
}
