// The database's clock, for times that different processes compare, such as leases and due times: the clocks of their
// machines may differ.
import type { MongoClient } from 'mongodb';

/**
 * A clock that follows the primary's, from the first heartbeat on. A heartbeat tells the difference between the two
 * clocks up to its own duration, so the known difference is changed only as far as it contradicts the heartbeat: a slow
 * answer moves nothing, and no time depends on the jitter of a network.
 */
export function databaseClock(mongo: Pick<MongoClient, 'on'>, ownNow: () => number): () => Date {
  let aheadMs = 0;
  mongo.on('serverHeartbeatSucceeded', ({ reply, duration }) => {
    if (reply.isWritablePrimary !== true || !(reply.localTime instanceof Date)) return;
    const least = reply.localTime.getTime() - ownNow();
    const most = least + Math.ceil(duration) + 1;
    aheadMs = Math.min(Math.max(aheadMs, least), most);
  });
  return () => new Date(ownNow() + aheadMs);
}
