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
