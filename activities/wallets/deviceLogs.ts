// What phones report of their troubles. Anybody can post here, so it is bounded: so many lines a call, so long, so many an
// hour, kept 7 days (the TTL of the collection).
import type { DeviceLogRow } from '../../schemas/collections.js';
import { newId } from '../../schemas/ids.js';
import type { Store } from '../deps.js';

const maxLines = 20;
const maxLength = 1_000;
const maxLinesAnHour = 5_000;
const hourMs = 3_600_000;
const serialIn = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

export type KeepDeviceLogs = (logs: readonly string[]) => Promise<void>;

/** One for each process. */
export function createDeviceLogs(store: Store): KeepDeviceLogs {
  let hour = 0;
  let kept = 0;
  return async function keepDeviceLogs(logs) {
    const receivedAt = store.now();
    const thisHour = Math.floor(receivedAt.getTime() / hourMs);
    if (thisHour !== hour) {
      hour = thisHour;
      kept = 0;
    }
    const taken = logs.slice(0, Math.min(maxLines, maxLinesAnHour - kept));
    if (taken.length === 0) return;
    kept += taken.length;
    await store.rows.deviceLogs.insertMany(taken.map((line) => rowOf(line, receivedAt)));
  };
}

function rowOf(line: string, receivedAt: Date): DeviceLogRow {
  const message = line.slice(0, maxLength);
  const serialNumber = serialIn.exec(message)?.[0]?.toLowerCase();
  return { _id: newId(), message, receivedAt, ...(serialNumber && { serialNumber }) };
}
