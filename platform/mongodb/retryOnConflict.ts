// Optimistic concurrency: an attempt that meets a conflict is repeated from its first read, after a random wait that
// grows up to 100 ms.
import type { Deps } from '../deps.js';
import { isConnectionLost, isRetryable, isWriteConflict } from './conflicts.js';
import { StillContended } from './stillContended.js';

/** The dependencies of a retried change. */
export type RetryDeps = Pick<Deps, 'log' | 'retryForMs'>;

/** Repeats `work` after a write conflict. Throws UNAVAILABLE when the conflicts do not end within `retryForMs`. */
export const retryOnWriteConflict = <T>(deps: RetryDeps, work: () => Promise<T>): Promise<T> =>
  retryOnConflict(deps, work, isWriteConflict);

/**
 * Repeats `attempt` after a VersionConflict, a write conflict or a duplicate key, so `attempt` must read its data again
 * each time. Throws UNAVAILABLE when the conflicts do not end within `retryForMs` or 200 repetitions. After a lost
 * connection `attempt` is repeated once, as the driver does for operations outside of transactions; a second lost
 * connection is thrown, so that callers do not wait for an unavailable server.
 */
export async function retryOnConflict<T>(
  deps: RetryDeps,
  work: () => Promise<T>,
  again: (error: unknown) => boolean = isRetryable,
): Promise<T> {
  const deadline = performance.now() + deps.retryForMs;
  let wasConnectionLost = false;
  for (let round = 0; ; round += 1) {
    try {
      return await work();
    } catch (error) {
      const connectionLost = isConnectionLost(error);
      if (connectionLost ? wasConnectionLost : !again(error)) throw error;
      wasConnectionLost ||= connectionLost;
      if (performance.now() > deadline || round > 200) {
        deps.log.warn({ err: error }, 'gave up on a contended change');
        throw new StillContended();
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(5 * 2 ** round, 100)));
    }
  }
}
