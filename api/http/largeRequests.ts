// Bounds how many requests that need much memory are worked on at the same time: in this process, and of one merchant,
// so that one merchant leaves room for others. A request waits for its turn before its body is read.
import type { Context } from 'koa';
import { createFairLimit, Withdrawn } from '../../platform/fairLimit.js';
import type { Config } from '../../schemas/shared/config.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { isLargeBody } from './readBody.js';
import { readToEnd } from './readToEnd.js';

export interface LargeRequests {
  /**
   * Waits for a turn; the caller ends it by calling what is returned, once. Throws RATE_LIMITED when the merchant has
   * had as many turns as it may for 5 s, and UNAVAILABLE when others have.
   */
  begin: (merchantId: string) => Promise<() => void>;
  /** Runs `work` in a turn. Throws the same. */
  run: <T>(merchantId: string, work: () => Promise<T>) => Promise<T>;
}

/**
 * Runs the work of a request, in a turn if its body is large. When it is refused, the rest of the body is read, so that
 * the client reads the answer.
 */
export async function inTurn<T>(
  { largeRequests }: { largeRequests: LargeRequests },
  { ctx, merchantId }: { ctx: Context; merchantId: string },
  work: () => Promise<T>,
): Promise<T> {
  if (!isLargeBody(ctx)) return work();
  try {
    return await largeRequests.run(merchantId, work);
  } catch (error) {
    await readToEnd(ctx);
    throw error;
  }
}

const retryAfterSeconds = 5;
const limit = 'MERCHANT_MAX_LARGE_REQUESTS';

/** `total`: of all merchants together. */
export function createLargeRequests(
  { config }: { config: Pick<Config, typeof limit> },
  { total = Number.MAX_SAFE_INTEGER, maxWaitMs = 5_000 }: { total?: number; maxWaitMs?: number } = {},
): LargeRequests {
  const max = config[limit];
  const turns = createFairLimit({ total, perKey: max });

  function refusal(merchantId: string): ServiceError {
    if (turns.heldBy(merchantId) < max) return new ServiceError('UNAVAILABLE');
    const message = `The merchant has ${max} large requests at the same time (${limit}); wait for one of them.`;
    return new ServiceError('RATE_LIMITED', { limit, max, retryAfterSeconds }, message);
  }

  const run = <T>(merchantId: string, work: () => Promise<T>): Promise<T> =>
    turns.run({ owner: merchantId, key: merchantId, maxWaitMs }, work).catch((error: unknown) => {
      throw error instanceof Withdrawn ? refusal(merchantId) : error;
    });

  return {
    run,
    begin: (merchantId) =>
      new Promise((resolve, reject) => {
        run(merchantId, () => new Promise<void>((end) => resolve(end))).catch(reject);
      }),
  };
}
