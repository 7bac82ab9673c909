// How many attempts may be in flight at once in this process: at most `perSubscription` to one subscription, so that a
// slow receiver delays only itself, and retries never take the slots that are reserved for first attempts.
import pLimit, { type LimitFunction } from 'p-limit';

export interface LaneLimits {
  perSubscription: number;
  total: number;
  /** Slots of `total` that retries may not use; below `total`. */
  reservedForFirst: number;
}

export type Turn = 'first' | 'retry';

export interface Lanes {
  /** Runs `send` as soon as there is room, oldest first, and answers what it answers. */
  run<T>(subscriptionId: string, turn: Turn, send: () => Promise<T>): Promise<T>;
  /** Subscriptions with an attempt in flight or waiting. */
  busySubscriptions(): number;
}

export function createLanes({ perSubscription, total, reservedForFirst }: LaneLimits): Lanes {
  const all = pLimit(total);
  const retries = pLimit(total - reservedForFirst);
  const own = new Map<string, { limit: LimitFunction; users: number }>();

  return {
    async run(subscriptionId, turn, send) {
      const lane = own.get(subscriptionId) ?? { limit: pLimit(perSubscription), users: 0 };
      own.set(subscriptionId, lane);
      lane.users += 1;
      try {
        return await lane.limit(() => (turn === 'first' ? all(send) : retries(() => all(send))));
      } finally {
        lane.users -= 1;
        if (lane.users === 0) own.delete(subscriptionId);
      }
    },
    busySubscriptions: () => own.size,
  };
}
