// How far the outbox is behind, for metrics and operators' commands. The cost does not grow with the backlog: counts
// stop at 100,000, and the age is that of the oldest among the 20 events of each shard that are due first.
import type { Deps } from '../../platform/deps.js';
import type { Outbox } from '../../platform/metrics/metrics.js';

const mostEvents = 100_000;
const mostDevices = 100_000;
/**
 * More than one, because the event that is due first need not be the oldest: a lease moves the `dueAt` of an older
 * event ahead.
 */
const sampleSize = 20;

export async function readOutbox({
  collections,
  config,
  now,
}: Pick<Deps, 'collections' | 'config' | 'now'>): Promise<Outbox> {
  const shards = Array.from({ length: config.RELAY_SHARDS }, (_, shard) => shard);
  const [events, staleDevices, ...heads] = await Promise.all([
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
  const oldest = Math.min(now().getTime(), ...heads.flat().map((event) => event.occurredAt.getTime()));
  return { events, staleDevices, ageSeconds: (now().getTime() - oldest) / 1_000 };
}
