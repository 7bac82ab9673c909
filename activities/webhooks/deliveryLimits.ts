// Limits how many attempts are in flight at the same time in this process. At most `perSubscription` of them go to one
// subscription, so that a slow receiver delays only its own deliveries. Retries never use the slots that are reserved
// for first attempts.
import pLimit, { type LimitFunction } from 'p-limit';

export interface DeliveryLimitOptions {
  perSubscription: number;
  total: number;
  /** Slots of `total` that retries may not use; must be below `total`. */
  reservedForFirst: number;
}

export type AttemptKind = 'first' | 'retry';

export interface DeliveryLimits {
  /** Runs `send` as soon as the limits allow it, in the order of the calls, and returns its result. */
  run<T>(subscriptionId: string, attemptKind: AttemptKind, send: () => Promise<T>): Promise<T>;
  /** The number of subscriptions with an attempt in flight or waiting. */
  busySubscriptions(): number;
}

export function createDeliveryLimits({
  perSubscription,
  total,
  reservedForFirst,
}: DeliveryLimitOptions): DeliveryLimits {
  const all = pLimit(total);
  const retries = pLimit(total - reservedForFirst);
  const own = new Map<string, { limit: LimitFunction; users: number }>();

  return {
    async run(subscriptionId, attemptKind, send) {
      const subscriptionLimit = own.get(subscriptionId) ?? { limit: pLimit(perSubscription), users: 0 };
      own.set(subscriptionId, subscriptionLimit);
      subscriptionLimit.users += 1;
      try {
        return await subscriptionLimit.limit(() => (attemptKind === 'first' ? all(send) : retries(() => all(send))));
      } finally {
        subscriptionLimit.users -= 1;
        if (subscriptionLimit.users === 0) own.delete(subscriptionId);
      }
    },
    busySubscriptions: () => own.size,
  };
}
