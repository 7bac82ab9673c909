// Waits until a condition holds. When it does not hold in time, the error shows the condition, the last answer and, on
// request, further values of that moment.
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface Wait {
  /** Default: two minutes, so that a slow machine does not fail a test. */
  withinMs?: number;
  /**
   * Default: 25 ms, and a tenth of the wait so far up to 100 ms, since asking costs what is waited for its processor.
   */
  everyMs?: number;
  /** An `ask` that throws counts as false; without this option the error ends the wait. */
  throwingIsNo?: boolean;
  /** Called when the wait fails; its result is printed in the error. */
  seen?: () => unknown;
}

const shown = (value: unknown): string => inspect(value, { depth: 4, maxArrayLength: 20, maxStringLength: 500 });

/** Calls `ask` until its result is truthy and returns that result. Throws after `withinMs`. */
export async function until<T>(
  ask: () => T | Promise<T>,
  { withinMs = 120_000, everyMs, throwingIsNo = false, seen }: Wait = {},
): Promise<Exclude<T, false | null | undefined>> {
  const begunAt = performance.now();
  let last: unknown;
  let times = 0;
  for (;;) {
    times += 1;
    try {
      const answer = await ask();
      if (answer) return answer as Exclude<T, false | null | undefined>;
      last = answer;
    } catch (error) {
      if (!throwingIsNo) throw error;
      last = error;
    }
    const waitedMs = performance.now() - begunAt;
    if (waitedMs > withinMs) break;
    await sleep(everyMs ?? Math.min(Math.max(25, waitedMs / 10), 100));
  }
  const lines = [`It did not come true within ${withinMs} ms, asked ${times} times.`, `  asked: ${ask}`];
  lines.push(`  last answer: ${shown(last)}`);
  if (seen) lines.push(`  seen: ${shown(await seen())}`);
  throw new Error(lines.join('\n'));
}
