// Ends a fork whose event loop stands still, and prints the test that it ran. No time limit of a test can: they are
// timers of the same event loop. vitest then counts the fork as one failure and runs the other files.
import { url as debuggerUrl } from 'node:inspector';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

const beatMs = 1_000;
const longestName = 1_000;
const forkLimitMs = 5 * 60_000;

export interface HungForkWatch {
  /** Says what this fork does from now on, such as the file and the name of a test. */
  doing(what: string): void;
}

/**
 * Kills this process when its event loop stands still for `limitMs`. A machine that stands still as a whole does not
 * count, nor does a stop in a debugger.
 */
export function watchHungFork(limitMs: number): HungForkWatch {
  const shared = new SharedArrayBuffer(8 + longestName);
  const [beats, length] = [new Int32Array(shared, 0, 1), new Int32Array(shared, 4, 1)];
  const text = new Uint8Array(shared, 8);
  if (debuggerUrl() === undefined) {
    setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref();
    new Worker(join(import.meta.dirname, 'hungForkThread.mjs'), {
      workerData: { shared, beatMs, limitMs },
      // Without the options of the fork, which vitest fills with loaders.
      execArgv: [],
    }).unref();
  }
  return {
    doing(what) {
      const bytes = new TextEncoder().encode(what).subarray(0, longestName);
      text.set(bytes);
      Atomics.store(length, 0, bytes.length);
    },
  };
}

let ofThisFork: HungForkWatch | undefined;

/** The watch of this fork, which may run many files. */
export function hungForkWatch(): HungForkWatch {
  ofThisFork ??= watchHungFork(forkLimitMs);
  return ofThisFork;
}
