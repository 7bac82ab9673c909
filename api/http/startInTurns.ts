// Starts a bounded number of requests in one turn of the event loop. Otherwise a burst would be worked on in a single
// turn, in which no answer of MongoDB is read: its timeouts would end although MongoDB has answered.
import type { Context, Next } from 'koa';

const startsPerTurn = 32;

/** Middleware; call this once for each process. The order of the requests is kept. */
export function createStartInTurns() {
  const waiting: (() => void)[] = [];
  let started = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(nextTurn);
  }

  function nextTurn(): void {
    isScheduled = false;
    const starting = waiting.splice(0, startsPerTurn);
    started = starting.length;
    if (started > 0) schedule();
    for (const start of starting) start();
  }

  return async function startInTurn(_ctx: Context, next: Next): Promise<void> {
    schedule();
    if (started < startsPerTurn && waiting.length === 0) started += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    await next();
  };
}
