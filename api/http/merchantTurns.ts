// Shares this process among merchants. While several of them send requests, each has a bounded number in work, so that
// one that sends many at once does not delay the others; a merchant alone has no bound. A request that takes long, such
// as one that waits for a push, gives its turn away and goes on.
import pLimit, { type LimitFunction } from 'p-limit';
import { within } from '../../platform/within.js';

/** Runs the work of a request when it is the merchant's turn, and returns its result. */
export type RunInTurn = <T>(merchantId: string, work: () => Promise<T>) => Promise<T>;

/** Requests in work of all merchants together, and of each at least. */
const most = { together: 8, each: 2 };
/** A merchant without a request for as long has no part. */
const idleMs = 2_000;
const longestMs = 250;

export function createMerchantTurns({ now = () => performance.now(), heldMs = longestMs } = {}): RunInTurn {
  /** The merchants with the oldest request first. */
  const merchants = new Map<string, { limit: LimitFunction; seenAt: number }>();
  let share = Number.POSITIVE_INFINITY;

  function turnsOf(merchantId: string): LimitFunction {
    const limit = merchants.get(merchantId)?.limit ?? pLimit(share);
    merchants.delete(merchantId);
    for (const [id, { limit: idle, seenAt }] of merchants) {
      if (now() - seenAt < idleMs) break;
      if (idle.activeCount + idle.pendingCount === 0) merchants.delete(id);
    }
    merchants.set(merchantId, { limit, seenAt: now() });
    shareAmong(merchants.size);
    return limit;
  }

  function shareAmong(count: number): void {
    const next = count === 1 ? Number.POSITIVE_INFINITY : Math.max(Math.floor(most.together / count), most.each);
    if (next === share) return;
    share = next;
    for (const { limit } of merchants.values()) limit.concurrency = next;
  }

  return async (merchantId, work) => {
    const begun = await turnsOf(merchantId)(async () => {
      const result = work();
      const ended = result.then(
        () => undefined,
        () => undefined,
      );
      await within(ended, { ms: heldMs, fallback: undefined });
      return { result };
    });
    return begun.result;
  };
}
