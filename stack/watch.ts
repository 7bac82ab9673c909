// Checks that a living process still does its work. The caller ends a process that does not, and then starts it again
// like one that died.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { toError } from '../platform/toError.js';
import { within } from '../platform/within.js';

export interface Watch {
  /** Resolves when the process does its work; throws with the reason when it does not. May take `withinMs`. */
  probe: () => Promise<void>;
  /** Matches a log line after which the process does not recover. */
  hopeless?: RegExp;
  /** Called when the process has ended; closes the connections of the probe. */
  close?: () => Promise<void>;
}

export interface WatchLimits {
  everyMs: number;
  /** Timeout of one probe. */
  withinMs: number;
  /** The process counts as stuck when all probes of so many milliseconds have failed. */
  stuckMs: number;
}

// With these limits a stuck process is killed after about 9 s, so that it works again within 15 s.
export const watchLimits: WatchLimits = { everyMs: 1_000, withinMs: 4_000, stuckMs: 8_000 };
/**
 * A probe that ends this much later than its timeout shows that this supervisor itself was paused; its failure is
 * ignored.
 */
const stoodStillMs = 1_000;

/** Resolves with the reason when the process is stuck, or with undefined when `ended` aborts. */
export async function becomesStuck(
  watch: Watch,
  { logFile, ended, limits = watchLimits }: { logFile: string; ended: AbortSignal; limits?: WatchLimits },
): Promise<string | undefined> {
  const newLines = followLog(logFile);
  let failingSince: number | undefined;
  let probing: Promise<unknown> = Promise.resolve();
  try {
    while (!ended.aborted) {
      const askedAt = performance.now();
      const probed = watch.probe().then(
        () => undefined,
        (error: unknown) => toError(error).message,
      );
      probing = probed;
      const failed = await inTime(probed, limits.withinMs);
      if (ended.aborted) return undefined;
      const hopeless = watch.hopeless?.exec(newLines());
      if (hopeless) return `says "${hopeless[0]}"`;
      failingSince = failed === undefined ? undefined : (failingSince ?? askedAt);
      if (failingSince !== undefined && performance.now() - failingSince >= limits.stuckMs) return failed;
      await sleep(failed === undefined ? limits.everyMs : 100, undefined, { signal: ended }).catch(() => undefined);
    }
    return undefined;
  } finally {
    // Not awaited, because a stuck process may never answer. The probe ends first, because a client that is closed
    // during a call can throw later.
    void probing.then(() => watch.close?.()).catch(() => undefined);
  }
}

/** The reason why the probe failed; undefined when it succeeded, or when this supervisor was paused. */
async function inTime(probed: Promise<string | undefined>, withinMs: number): Promise<string | undefined> {
  const since = performance.now();
  const failed = await within(probed, { ms: withinMs, fallback: `gives no answer for ${withinMs / 1_000} s` });
  return performance.now() - since > withinMs + stoodStillMs ? undefined : failed;
}

const mostAtOnce = 65_536;

/** Each call returns what was appended to the log since the previous call, at most its last 65,536 bytes. */
function followLog(logFile: string): () => string {
  const sizeNow = (): number => {
    try {
      return statSync(logFile).size;
    } catch {
      return 0;
    }
  };
  let seen = sizeNow();
  return () => {
    const size = sizeNow();
    const from = Math.max(size < seen ? 0 : seen, size - mostAtOnce);
    seen = size;
    if (size <= from) return '';
    const file = openSync(logFile, 'r');
    try {
      const bytes = Buffer.alloc(size - from);
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, from));
    } finally {
      closeSync(file);
    }
  };
}
