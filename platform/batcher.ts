// A batcher combines concurrent calls into one commit, query or message. A single call starts without delay. Calls that
// arrive while `concurrency` groups are running form the next group. Not dataloader, which knows neither `concurrency`,
// a size for each group nor a limit of the wait.
import { ServiceError } from '../schemas/shared/errors.js';
import { isUnavailable } from './mongodb/isUnavailable.js';

export interface BatcherOptions<I> {
  /** Maximum size of one group, evaluated for each group; a larger item forms its own group. */
  batchSize: number | (() => number);
  /** Size of an item. Default: 1. */
  sizeOf?: (item: I) => number;
  /** Maximum number of groups that run at the same time. */
  concurrency: number;
  /**
   * A call that has waited longer than this while no group was answered is rejected with UNAVAILABLE when the next
   * group starts. While groups are answered, calls wait without a limit. Default: no limit.
   */
  maxWaitMs?: number;
}

/**
 * `serve` must return one answer for each item, in the order of the items. When `serve` throws, every caller of the
 * group gets the error. When the error means that the database is unavailable, all waiting callers are rejected with
 * UNAVAILABLE; if another group was answered in the meantime, only those that have waited for `maxWaitMs`.
 */
export function createBatcher<I, O>(
  serve: (items: I[]) => Promise<readonly O[]>,
  { batchSize, sizeOf = () => 1, concurrency, maxWaitMs = Number.POSITIVE_INFINITY }: BatcherOptions<I>,
): (item: I) => Promise<O> {
  const waiting: { item: I; since: number; resolve: (answer: O) => void; reject: (error: unknown) => void }[] = [];
  let running = 0;
  let scheduled = false;
  let lastAnswerAt = Number.NEGATIVE_INFINITY;

  /** Rejects the calls that have waited for `ms` since `from`, or since they were made if that is later. */
  function rejectWaiting(ms: number, from = Number.NEGATIVE_INFINITY): void {
    const now = performance.now();
    while (waiting[0] && now - Math.max(waiting[0].since, from) >= ms)
      waiting.shift()?.reject(new ServiceError('UNAVAILABLE'));
  }

  /** Rejects the calls that had already waited too long for any answer when this call came. */
  function answered(): void {
    const before = lastAnswerAt;
    lastAnswerAt = performance.now();
    rejectWaiting(maxWaitMs, before);
  }

  /** The number of waiting calls in the next group. */
  function nextLength(): number {
    let size = 0;
    const most = typeof batchSize === 'number' ? batchSize : batchSize();
    const tooMany = waiting.findIndex(({ item }) => {
      size += sizeOf(item);
      return size > most;
    });
    return tooMany === -1 ? waiting.length : Math.max(tooMany, 1);
  }

  async function serveNext(): Promise<void> {
    const group = waiting.splice(0, nextLength());
    if (group.length === 0) return;
    const startedAt = performance.now();
    running += 1;
    try {
      const answers = await serve(group.map(({ item }) => item));
      if (answers.length !== group.length) throw new Error('Each item needs its answer.');
      // The lengths were compared above, so every index has an answer.
      for (const [index, { resolve }] of group.entries()) resolve(answers[index] as O);
      answered();
    } catch (error) {
      for (const { reject } of group) reject(error);
      // While the database does not answer, the waiting calls would only run into the same timeout.
      if (isUnavailable(error)) rejectWaiting(lastAnswerAt > startedAt ? maxWaitMs : 0);
    } finally {
      running -= 1;
      schedule();
    }
  }

  /** Starts groups with setImmediate, so that all calls of the current turn of the event loop can share a group. */
  function schedule(): void {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      while (running < concurrency && waiting.length > 0) void serveNext();
    });
  }

  return function call(item) {
    return new Promise<O>((resolve, reject) => {
      waiting.push({ item, since: performance.now(), resolve, reject });
      schedule();
    });
  };
}
