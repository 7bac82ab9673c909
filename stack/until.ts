import { setTimeout as sleep } from 'node:timers/promises';

/** Asks again and again until the answer is yes; rejects when the signal aborts. A question that throws is a no. */
export async function until(question: () => Promise<boolean>, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!(await question().catch(() => false))) await sleep(everyMs, undefined, { signal });
}
