// The first step of a relay: it takes over the events that an earlier activity attempt, or a clock that was set back,
// left in its shard.

import type { Filter } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import { updateAll } from '../../platform/mongodb/updateMany.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { relayId } from '../../schemas/shared/ids.js';

/** The service never sets `dueAt` further ahead than this. A larger value was written before the clock was set back. */
export const maxLeaseAheadMs = 10 * 60_000;

/** Filters for what a relay takes over when it begins. */
const leftBehind = ({ config, now }: Deps, shard: number) => {
  const prefix = `${relayId(shard)}:`;
  const state = 'new' as const;
  return {
    /** After `RELAY_SHARDS` was lowered, shard 0 has the events of the others. */
    removed: shard === 0 ? [{ state, shard: { $gte: config.RELAY_SHARDS } }] : [],
    /** Leased by an activity attempt before this one, or so far ahead that the clock has been set back since. */
    left: [
      { state, shard, leaseOwner: { $gte: prefix, $lt: `${prefix}\u{10FFFF}` } },
      { state, shard, dueAt: { $gt: new Date(now().getTime() + maxLeaseAheadMs) } },
    ],
  };
};

/** Filters for events that an ended relay left in its shard. Events that a running relay works on match too. */
export function leftInShard(deps: Deps, shard: number): Filter<EventRow>[] {
  const { removed, left } = leftBehind(deps, shard);
  return [...removed, ...left];
}

/** Makes them due now. */
export async function takeOverShard(deps: Deps, shard: number): Promise<void> {
  const { removed, left } = leftBehind(deps, shard);
  for (const where of removed) await updateAll(deps, 'events', { where, change: { $set: { shard: 0 } } });
  const change = { $set: { leaseOwner: '', dueAt: deps.now() } };
  for (const where of left) await updateAll(deps, 'events', { where, change });
}
