// What many callers ask for at the same moment is done once for all of them: one commit, one query, one message. Nobody waits
// for company: a call alone goes at once, and whoever comes while others are being served makes the next group.
import { ServiceError } from '../schemas/errors.js';

export interface GatherOptions {
  /** So many callers at most are served together. */
  max: number;
  /** So many groups are served at the same time. */
  atOnce: number;
  /** Whoever waits longer for its turn is UNAVAILABLE: it stands behind a call to somebody who does not answer. */
  patienceMs?: number;
}

/** `serve` answers one answer for each item, in their order; when it throws, each caller of the group hears of it. */
export function gather<I, O>(
  serve: (items: I[]) => Promise<readonly O[]>,
  { max, atOnce, patienceMs = Number.POSITIVE_INFINITY }: GatherOptions,
): (item: I) => Promise<O> {
  const waiting: { item: I; since: number; resolve: (answer: O) => void; reject: (error: unknown) => void }[] = [];
  let served = 0;
  let awake = false;

  async function serveNext(): Promise<void> {
    const longAgo = performance.now() - patienceMs;
    while (waiting[0] && waiting[0].since < longAgo) waiting.shift()?.reject(new ServiceError('UNAVAILABLE'));
    const group = waiting.splice(0, max);
    if (group.length === 0) return;
    served += 1;
    try {
      const answers = await serve(group.map(({ item }) => item));
      if (answers.length !== group.length) throw new Error('Each item needs its answer.');
      // As many answers as callers, so each index is there.
      for (const [index, { resolve }] of group.entries()) resolve(answers[index] as O);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      served -= 1;
      wake();
    }
  }

  /** Not before this turn of the event loop is over: whatever it brings belongs together. */
  function wake(): void {
    if (awake || waiting.length === 0) return;
    awake = true;
    setImmediate(() => {
      awake = false;
      while (served < atOnce && waiting.length > 0) void serveNext();
    });
  }

  return function join(item) {
    return new Promise<O>((resolve, reject) => {
      waiting.push({ item, since: performance.now(), resolve, reject });
      wake();
    });
  };
}
