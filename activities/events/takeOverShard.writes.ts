// The first step of a relay: it takes over the events that an earlier activity attempt, or a clock that was set back,
// left in its shard.

import type { Deps } from '../../platform/deps.js';
import { updateAll } from '../../platform/mongodb/updateMany.js';
import { relayId } from '../../schemas/shared/ids.js';

/** The service never sets `dueAt` further ahead than this. A larger value was written before the clock was set back. */
export const maxLeaseAheadMs = 10 * 60_000;

/**
 * Makes the events that the previous activity attempt had leased due now, and also events whose `dueAt` is so far ahead
 * that it must have been written before the clock was set back. Shard 0 also takes over the events of shards that no
 * longer exist after `RELAY_SHARDS` was lowered.
 */
export async function takeOverShard(deps: Deps, shard: number): Promise<void> {
  if (shard === 0)
    await updateAll(deps, 'events', {
      where: { state: 'new', shard: { $gte: deps.config.RELAY_SHARDS } },
      change: { $set: { shard: 0 } },
    });
  const prefix = `${relayId(shard)}:`;
  const now = deps.now();
  const due = { $set: { leaseOwner: '', dueAt: now } };
  const held = { $gte: prefix, $lt: `${prefix}\u{10FFFF}` };
  await updateAll(deps, 'events', { where: { state: 'new', shard, leaseOwner: held }, change: due });
  const tooFarAhead = { $gt: new Date(now.getTime() + maxLeaseAheadMs) };
  await updateAll(deps, 'events', { where: { state: 'new', shard, dueAt: tooFarAhead }, change: due });
}
