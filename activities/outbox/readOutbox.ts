// The backlog of the outbox, for metrics and operator commands. The cost does not grow with the backlog:
// - Counts stop at 100,000.
// - The age of events is that of the oldest among the 20 of each shard that are due first.
// - The age of deliveries is that of the oldest among the first due ones of up to 200 subscriptions.
import type { Deps } from '../../platform/deps.js';
import type { Outbox } from '../../platform/metrics/metrics.js';

const mostEvents = 100_000;
const mostDevices = 100_000;
/**
 * More than one event, because the first due event need not be the oldest: a lease moves the `dueAt` of older events
 * ahead.
 */
const sampleSize = 20;
const mostDeliveries = 100_000;
const mostSubscriptions = 200;

export async function readOutbox({
  collections,
  config,
  now,
}: Pick<Deps, 'collections' | 'config' | 'now'>): Promise<Outbox> {
  const shards = Array.from({ length: config.RELAY_SHARDS }, (_, shard) => shard);
  const [queue, events, staleDevices, ...heads] = await Promise.all([
    readQueue({ collections }),
    collections.events.countDocuments({ state: 'new' }, { limit: mostEvents }),
    collections.devices.countDocuments({ stale: true }, { limit: mostDevices }),
    ...shards.map((shard) =>
      collections.events
        .find({ state: 'new', shard }, { projection: { occurredAt: 1 } })
        .sort({ dueAt: 1 })
        .limit(sampleSize)
        .toArray(),
    ),
  ]);
  const ageSeconds = (times: Date[]): number =>
    (now().getTime() - Math.min(now().getTime(), ...times.map((time) => time.getTime()))) / 1_000;
  return {
    events,
    staleDevices,
    ageSeconds: ageSeconds(heads.flat().map((event) => event.occurredAt)),
    queuedDeliveries: queue.count,
    queueAgeSeconds: ageSeconds(queue.heads.map((delivery) => delivery.createdAt)),
  };
}

/** The number of queued deliveries, and the first due delivery of each subscription. */
async function readQueue({ collections }: Pick<Deps, 'collections'>) {
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
    heads: each.flatMap(({ head }) => head ?? []),
  };
}
