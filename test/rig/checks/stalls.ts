// Measures stalls of the machine, so that time limits in tests count only the time in which this process ran.
import { createHmac } from 'node:crypto';

const everyMs = 20;

export interface StallWatch {
  /** The milliseconds by which timers of this process ran late; tests subtract them from measured durations. */
  stalledMs(): number;
  stop(): void;
}

/** Starts to detect stalls, such as those of a shared machine whose host is busy. */
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

/**
 * What a limit may be exceeded by on a slow machine, in milliseconds, at most 5 s: `quietMs` is what the same requests
 * took before, so that the wait of the service's processes for the processor counts.
 */
export const slownessMs = (quietMs: number): number => 5 * Math.min(quietMs, 1_000);

/**
 * The longest time, in milliseconds, for which `work` blocked the event loop of this process, without the time in which
 * the process got no processor.
 */
export async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  const stepMs = 5;
  let longest = 0;
  let seenAt = performance.now();
  let usage = process.cpuUsage();
  const look = () => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(usage);
    longest = Math.max(longest, Math.min(now - seenAt - stepMs, (user + system) / 1_000 - stepMs));
    seenAt = performance.now();
    usage = process.cpuUsage();
  };
  const timer = setInterval(look, stepMs);
  try {
    await work();
    return longest;
  } finally {
    clearInterval(timer);
  }
}

/**
 * The longest time that work may block the event loop, in milliseconds: as long as this process takes at this moment to
 * serialise, sign and parse 8,000 small bodies, some 100 ms on an idle machine. The median of five measurements.
 */
export function longestAllowedBlockMs(): number {
  const fields = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`field${index}`, `value ${index} é`]));
  const measured = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    for (let index = 0; index < 2_000; index += 1) {
      const body = JSON.stringify({ ...fields, index });
      createHmac('sha256', 'a key').update(body).digest('hex');
      JSON.parse(body);
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return 4 * (measured.sort((one, other) => one - other)[2] ?? 0);
}

/** Returns the result of `work` and its duration in milliseconds without stalls. */
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

/**
 * The duration of `work` in milliseconds. Measures up to three times until a run is faster than `enough`, and logs each
 * slower run.
 */
export async function quickest(work: () => Promise<unknown>, enough: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && best >= enough; tries += 1) {
    const { ms } = await timed(work);
    if (ms >= enough)
      console.log(`  took ${Math.round(ms)} ms, measure ${tries + 1} of 3, where ${enough} ms are enough`);
    best = Math.min(best, ms);
  }
  return best;
}
