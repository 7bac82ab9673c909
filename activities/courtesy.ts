// Bulk work makes room: where it holds gestures up, it rests between its pieces. The API knows how long they take, beside bulk
// and otherwise, and says so in the database (api/gestureRoom.ts), so every worker hears of it. Where there is room for
// both, nothing is slowed down.
import { setTimeout as sleep } from 'node:timers/promises';
import { type SlowdownRow, slowdownId } from '../schemas/collections.js';
import type { Store } from './deps.js';

export interface Courtesy {
  /** Does one piece of bulk work, and rests for as long as gestures ask for it, or until `signal` is aborted. */
  bulk<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** Gestures that were held up longer ago than this are no reason to rest. */
const recentMs = 3_000;
/** A gesture that takes twice as long as otherwise is worth this many times what was worked. */
const restForTwice = 3;
const longestRest = { timesWorked: 3, ms: 1_000 };

export interface CourtesyOptions {
  /** In milliseconds, from anywhere on. */
  clock?: () => number;
  rest?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export function createCourtesy(
  { rows, metrics, now, log }: Pick<Store, 'rows' | 'metrics' | 'now' | 'log'>,
  {
    clock = () => performance.now(),
    rest = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
  }: CourtesyOptions = {},
): Courtesy {
  const slowdown = (): Promise<SlowdownRow | null> =>
    rows.slowdowns.findOne({ _id: slowdownId }).catch((error: unknown) => {
      log.debug({ err: error }, 'whether gestures are held up is not known');
      return null;
    });

  function restMs(workedMs: number, told: SlowdownRow | null): number {
    if (!told || Math.abs(now().getTime() - told.at.getTime()) > recentMs) return 0;
    const times = Math.min((told.times - 1) * restForTwice, longestRest.timesWorked);
    return Math.min(workedMs * times, longestRest.ms);
  }

  return {
    async bulk(work, signal) {
      const begunAt = clock();
      const [made, told] = await Promise.all([work(), slowdown()]);
      const ms = restMs(clock() - begunAt, told);
      if (ms > 0) {
        metrics.rested(ms / 1_000);
        await rest(ms, signal);
      }
      return made;
    },
  };
}
