import type { TestOptions } from 'vitest';

const everyMs = 20;

export interface StallWatch {
  /** The milliseconds in which this process was let run late: what a promised bound of time has to be forgiven. */
  stalledMs(): number;
  stop(): void;
}

/** Watches how long the machine stands still, as a shared one does when its host is busy. */
export function watchStalls(): StallWatch {
  let seenAt = performance.now();
  let stalledMs = 0;
  const look = () => {
    const now = performance.now();
    stalledMs += Math.max(0, now - seenAt - 2 * everyMs);
    seenAt = now;
    return stalledMs;
  };
  const timer = setInterval(look, everyMs);
  return { stalledMs: look, stop: () => clearInterval(timer) };
}

/** What `work` made, and the milliseconds that it took without those in which the machine stood still. */
export async function timed<T>(work: () => Promise<T>): Promise<{ made: T; ms: number }> {
  const stalls = watchStalls();
  const startedAt = performance.now();
  try {
    const made = await work();
    return { made, ms: performance.now() - startedAt - stalls.stalledMs() };
  } finally {
    stalls.stop();
  }
}

/** The milliseconds that `work` takes: measured up to three times, until it is quick `enough`. */
export async function quickest(work: () => Promise<unknown>, enough: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && best >= enough; tries += 1) best = Math.min(best, (await timed(work)).ms);
  return best;
}

/**
 * The options and the body of a test of limits as short as `limitMs`. Where the machine stood still for half of that
 * meanwhile, what failed says nothing, and the test is made again; on a machine that runs, it fails at once.
 */
export function steadily<Given extends unknown[]>(
  limitMs: number,
  body: (...given: Given) => Promise<void>,
): [TestOptions, (...given: Given) => Promise<void>] {
  const stoodStill = 'The machine stood still';
  const watched = async (...given: Given) => {
    const stalls = watchStalls();
    try {
      await body(...given);
    } catch (failure) {
      const ms = stalls.stalledMs();
      if (ms < limitMs / 2) throw failure;
      throw new Error(`${stoodStill} for ${Math.round(ms)} ms while this failed.`, { cause: failure });
    } finally {
      stalls.stop();
    }
  };
  // By the message, since Vitest 4.1 drops a condition that is a function and makes every failure again.
  return [{ retry: { count: 3, condition: new RegExp(`^${stoodStill}`) } }, watched];
}
