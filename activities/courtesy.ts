// Bulk work makes room: where it and the gestures beside it are together too much for the engines, it rests between its
// pieces. The sign is how long the claims of gestures take while bulk is at work here, and how long they take otherwise;
// workers share gestures evenly, so what one of them sees is true for all. Where there is room for both, nothing is slowed down.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Metrics } from './metrics/metrics.js';

export interface Courtesy {
  /** The claim of a gesture took so long just now. */
  claimTook(ms: number): void;
  /** Does one piece of bulk work, and rests for as long as gestures ask for it, or until `signal` is aborted. */
  bulk<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** Gestures that were held up longer ago than this are no reason to rest. */
const recentMs = 3_000;
/** How far one claim moves what is known of them: what they take otherwise changes slowly. */
const step = { beside: 1.1, otherwise: 1.05 };
/** Claims that take up to so many times what they take otherwise are not held up. */
const tolerated = 1.5;
const longestRest = { timesWorked: 3, ms: 1_000 };

/** A median of what comes, kept as one number: a step towards each value, however far it is. */
const towards = (ms: number, known: number | undefined, by: number): number => {
  if (known === undefined) return ms;
  return ms > known ? Math.min(known * by, ms) : Math.max(known / by, ms);
};

export interface CourtesyOptions {
  metrics: Pick<Metrics, 'rested'>;
  /** In milliseconds, from anywhere on. */
  clock?: () => number;
  rest?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export function createCourtesy({
  metrics,
  clock = () => performance.now(),
  rest = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
}: CourtesyOptions): Courtesy {
  let working = 0;
  let workedAt = Number.NEGATIVE_INFINITY;
  let otherwise: number | undefined;
  let beside: { ms: number; at: number } | undefined;

  const lately = () => (beside && clock() - beside.at <= recentMs ? beside.ms : undefined);

  function restMs(workedMs: number): number {
    const ms = lately();
    if (ms === undefined || otherwise === undefined) return 0;
    const times = Math.min(Math.max(ms / otherwise - tolerated, 0), longestRest.timesWorked);
    return Math.min(workedMs * times, longestRest.ms);
  }

  return {
    claimTook(ms) {
      const now = clock();
      if (working === 0 && now - workedAt >= ms) {
        otherwise = towards(ms, otherwise, step.otherwise);
        return;
      }
      beside = { ms: towards(ms, lately() ?? otherwise, step.beside), at: now };
    },

    async bulk(work, signal) {
      const begunAt = clock();
      working += 1;
      const made = await work().finally(() => {
        working -= 1;
        workedAt = clock();
      });
      const ms = restMs(workedAt - begunAt);
      if (ms > 0) {
        metrics.rested(ms / 1_000);
        await rest(ms, signal);
      }
      return made;
    },
  };
}
