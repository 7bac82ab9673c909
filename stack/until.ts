import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Repeats `question` until it resolves with true. A `question` that rejects counts as false. Rejects when the signal
 * aborts.
 */
export async function until(question: () => Promise<boolean>, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!(await question().catch(() => false))) await sleep(everyMs, undefined, { signal });
}
