// The backlog of the outbox, for metrics and operator commands. The cost does not grow with the backlog:
// - Counts stop at 100,000.
// - The age of events is that of the oldest among the 20 of each shard that are due first.
// - The age of deliveries is that of the oldest among the first due ones of up to 200 subscriptions.
import type { Deps } from '../../platform/deps.js';
import type { Backlog } from '../../platform/metrics/metrics.js';
import { lastBackupId } from '../../schemas/shared/service.rows.js';

const mostEvents = 100_000;
const mostDevices = 100_000;
/**
 * More than one event, because the first due event need not be the oldest: a lease moves the `dueAt` of older events
 * ahead.
 */
const sampleSize = 20;
const mostDeliveries = 100_000;
const mostSubscriptions = 200;

type Reader = Pick<Deps, 'collections' | 'config' | 'now'>;

/** The events that are not published yet. */
export async function readEvents({ collections, config, now }: Reader): Promise<Backlog> {
  const shards = Array.from({ length: config.RELAY_SHARDS }, (_, shard) => shard);
  const [count, ...heads] = await Promise.all([
    collections.events.countDocuments({ state: 'new' }, { limit: mostEvents }),
    ...shards.map((shard) =>
      collections.events
        .find({ state: 'new', shard }, { projection: { occurredAt: 1 } })
        .sort({ dueAt: 1 })
        .limit(sampleSize)
        .toArray(),
    ),
  ]);
  return {
    count,
    ageSeconds: ageSeconds(
      now(),
      heads.flat().map((event) => event.occurredAt),
    ),
  };
}

/** The queued deliveries. */
export async function readDeliveries({ collections, now }: Reader): Promise<Backlog> {
  const waiting = await collections.waitingSubscriptions
    .find({}, { projection: { _id: 1 } })
    .limit(mostSubscriptions)
    .toArray();
  const each = await Promise.all(
    waiting.map(async ({ _id: dueGroup }) => {
      const [count, head] = await Promise.all([
        collections.deliveries.countDocuments({ dueGroup }, { limit: Math.ceil(mostDeliveries / waiting.length) }),
        collections.deliveries.findOne({ dueGroup }, { sort: { dueAt: 1 }, projection: { createdAt: 1 } }),
      ]);
      return { count, head };
    }),
  );
  return {
    count: each.reduce((sum, { count }) => sum + count, 0),
    ageSeconds: ageSeconds(
      now(),
      each.flatMap(({ head }) => head?.createdAt ?? []),
    ),
  };
}

/** The phones that never fetched their pass. */
export function countStaleDevices({ collections }: Reader): Promise<number> {
  return collections.devices.countDocuments({ stale: true }, { limit: mostDevices });
}

/** When the newest backup was made; undefined when the command `backup` has made none. */
export async function readLastBackup({ collections }: Reader): Promise<Date | undefined> {
  return (await collections.probes.findOne({ _id: lastBackupId }))?.at;
}

function ageSeconds(now: Date, times: Date[]): number {
  return (now.getTime() - Math.min(now.getTime(), ...times.map((time) => time.getTime()))) / 1_000;
}
