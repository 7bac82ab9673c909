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
  const timer = setInterval(() => {
    const now = performance.now();
    stalledMs += Math.max(0, now - seenAt - 2 * everyMs);
    seenAt = now;
  }, everyMs);
  return { stalledMs: () => stalledMs, stop: () => clearInterval(timer) };
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
