// Stores the problems that phones report. The endpoint needs no credential, so the size is bounded: 20 lines in a call,
// 1,000 characters in a line, 5,000 lines an hour in each process, kept for 7 days (the TTL of the collection).

import type { Deps } from '../../platform/deps.js';
import type { DeviceLogRow } from '../../schemas/collections.js';
import { newId } from '../../schemas/ids.js';

const maxLines = 20;
const maxLength = 1_000;
const maxLinesAnHour = 5_000;
const hourMs = 3_600_000;
const serialIn = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

export type StoreDeviceLogs = (logs: readonly string[]) => Promise<void>;

/** Call this once in each process: the writer counts the lines of the current hour. */
export function createDeviceLogWriter(deps: Deps): StoreDeviceLogs {
  let hour = 0;
  let kept = 0;
  return async function storeDeviceLogs(logs) {
    const receivedAt = deps.now();
    const thisHour = Math.floor(receivedAt.getTime() / hourMs);
    if (thisHour !== hour) {
      hour = thisHour;
      kept = 0;
    }
    const taken = logs.slice(0, Math.min(maxLines, maxLinesAnHour - kept));
    if (taken.length === 0) return;
    kept += taken.length;
    await deps.collections.deviceLogs.insertMany(taken.map((line) => rowOf(line, receivedAt)));
  };
}

function rowOf(line: string, receivedAt: Date): DeviceLogRow {
  const message = line.slice(0, maxLength);
  const serialNumber = serialIn.exec(message)?.[0]?.toLowerCase();
  return { _id: newId(), message, receivedAt, ...(serialNumber && { serialNumber }) };
}
