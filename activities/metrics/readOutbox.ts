// How far behind the outbox is, at a cost that does not grow with the backlog: the count stops at a bound, and the age is
// that of the events that are taken next.
import type { Store } from '../deps.js';
import type { Outbox } from './metrics.js';

const mostEvents = 100_000;
const mostDevices = 100_000;
/** The first of a shard may be a young one: work under way moves `dueAt` ahead. */
const looked = 20;

export async function readOutbox({ rows, config, now }: Pick<Store, 'rows' | 'config' | 'now'>): Promise<Outbox> {
  const shards = Array.from({ length: config.RELAY_SHARDS }, (_, shard) => shard);
  const [events, staleDevices, ...heads] = await Promise.all([
    rows.events.countDocuments({ state: 'new' }, { limit: mostEvents }),
    rows.devices.countDocuments({ stale: true }, { limit: mostDevices }),
    ...shards.map((shard) =>
      rows.events
        .find({ state: 'new', shard }, { projection: { occurredAt: 1 } })
        .sort({ dueAt: 1 })
        .limit(looked)
        .toArray(),
    ),
  ]);
  const oldest = Math.min(now().getTime(), ...heads.flat().map((event) => event.occurredAt.getTime()));
  return { events, staleDevices, ageSeconds: (now().getTime() - oldest) / 1_000 };
}
