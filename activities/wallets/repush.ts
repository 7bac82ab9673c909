// A push is a hint that Apple may drop. A registered phone that has not fetched the newest version after a minute, 15 minutes
// and 6 hours is pushed again; after that it counts as stale, which the pass doctor and the metrics show.
import type { DeviceRow } from '../../schemas/collections.js';
import type { WorkerDeps } from '../workerDeps.js';

const waitsMs = [15 * 60_000, 6 * 3_600_000];
const batchSize = 500;

export async function repushStale(deps: WorkerDeps): Promise<{ pushed: number; stale: number }> {
  const { apple } = deps.wallets;
  const now = deps.now();
  const due = await deps.rows.devices
    .find({ recheckAt: { $lte: now } })
    .sort({ recheckAt: 1 })
    .limit(batchSize)
    .toArray();
  const current = (device: DeviceRow): boolean =>
    device.fetchedTag !== undefined && device.lastPush !== undefined && device.fetchedTag >= device.lastPush.tag;
  const behind = due.filter((device) => !current(device));
  const toPush = behind.filter((device) => (device.recheckRound ?? 0) <= waitsMs.length);
  const answers = apple && toPush.length > 0 ? await apple.apns.push(toPush.map((device) => device.pushToken)) : [];
  for (const answer of answers) deps.metrics.pass('apple', answer.outcome);
  const pushed = new Set(toPush.filter((_, index) => answers[index]?.outcome === 'sent').map((device) => device._id));
  if (due.length > 0) {
    await deps.rows.devices.bulkWrite(
      due.map((device) => {
        const round = device.recheckRound ?? 0;
        const wait = waitsMs[round];
        const filter = { _id: device._id, ...(device.recheckAt && { recheckAt: device.recheckAt }) };
        if (current(device))
          return { updateOne: { filter, update: { $unset: { recheckAt: '', recheckRound: '', stale: '' } } } };
        if (wait === undefined)
          return { updateOne: { filter, update: { $set: { stale: true }, $unset: { recheckAt: '' } } } };
        return {
          updateOne: {
            filter,
            update: { $set: { recheckAt: new Date(now.getTime() + wait), recheckRound: round + 1 } },
          },
        };
      }),
      { ordered: false },
    );
  }
  return {
    pushed: pushed.size,
    stale: behind.filter((device) => waitsMs[device.recheckRound ?? 0] === undefined).length,
  };
}
