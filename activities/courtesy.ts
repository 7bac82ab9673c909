// Bulk work makes room: where it and the gestures beside it are together too much for the engines, it rests between its
// pieces. The sign is how long a gesture's claim takes here, beside the best that one has taken; workers share gestures
// evenly, so what one of them sees is true for all. Where there is room for both, nothing is slowed down.
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerDeps } from './workerDeps.js';

export interface Courtesy {
  /** The claim of a gesture took so long just now. */
  claimTook(ms: number): void;
  /** How long bulk work that took `workedMs` is to rest now. */
  restMs(workedMs: number): number;
}

/** Gestures that came longer ago than this are no reason to rest. */
const recentMs = 1_000;
/** How much of what is known each claim replaces. */
const weight = 0.2;
/** The best is forgotten so slowly, with each claim: engines may become slower for good. */
const forgetting = 1.0005;
/** Claims that take up to so many times the best are what they always are. */
const tolerated = 1.5;
const longestRest = { timesWorked: 3, ms: 1_000 };

export function createCourtesy(clock: () => number = () => performance.now()): Courtesy {
  let best = Number.POSITIVE_INFINITY;
  let usual = 0;
  let seenAt = Number.NEGATIVE_INFINITY;
  const isRecent = (): boolean => clock() - seenAt < recentMs;
  return {
    claimTook(ms) {
      best = Math.min(best * forgetting, ms);
      usual = isRecent() ? usual + (ms - usual) * weight : ms;
      seenAt = clock();
    },
    restMs(workedMs) {
      if (!isRecent()) return 0;
      const times = Math.min(Math.max(usual / best - tolerated, 0), longestRest.timesWorked);
      return Math.min(workedMs * times, longestRest.ms);
    },
  };
}

/** Does one piece of bulk work, and rests for as long as courtesy asks, or until `signal` is aborted. */
export async function withCourtesy<T>(
  { courtesy, metrics }: Pick<WorkerDeps, 'courtesy' | 'metrics'>,
  { work, signal }: { work: () => Promise<T>; signal: AbortSignal },
): Promise<T> {
  const begunAt = performance.now();
  const made = await work();
  const restMs = courtesy.restMs(performance.now() - begunAt);
  if (restMs > 0) {
    metrics.rested(restMs / 1_000);
    await sleep(restMs, undefined, { signal }).catch(() => {});
  }
  return made;
}
