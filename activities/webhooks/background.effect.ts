// The delivery attempts of a worker process that run in the background: those that continue after their event was
// published, and those of the delivery queue.
import { setMaxListeners } from 'node:events';

export interface Background {
  /** Aborted when attempts in the background must end. */
  signal: AbortSignal;
  /** Keeps the process from closing before `work` has ended. `work` must not reject. */
  run: (work: Promise<void>) => void;
  /** Whether at the last read more deliveries of the subscription waited than there were slots. */
  hasBacklog: (subscriptionId: string) => boolean;
  noteBacklog: (subscriptionId: string, hasBacklog: boolean) => void;
  /** Ends the `sleep` calls with `wakes`: something was put into the queue. */
  wake: () => void;
  /** Sleeps for `ms`, or until `wake` is called, `signal` is aborted or one of `until` ends. */
  sleep: (ms: number, ends: SleepEnds) => Promise<void>;
  /** Aborts the running attempts and waits until they have ended. */
  close: () => Promise<void>;
}

export interface SleepEnds {
  signal: AbortSignal;
  /** Whether `wake` ends it. */
  wakes?: boolean;
  until?: readonly Promise<void>[];
}

/** How long attempts continue after the process was asked to stop; the same time as for activities. */
const graceMs = 10_000;
/** Another process may have emptied the queue since. */
const backlogMs = 2_000;

export function createBackground(shutdownSignal: AbortSignal): Background {
  const calledOff = new AbortController();
  // Each attempt in flight adds a listener; by default Node warns above 10 listeners.
  setMaxListeners(0, calledOff.signal);
  const running = new Set<Promise<void>>();
  const backlogs = new Map<string, number>();
  const sleepers = new Set<() => void>();
  shutdownSignal.addEventListener('abort', () => setTimeout(() => calledOff.abort(), graceMs).unref(), { once: true });

  return {
    signal: calledOff.signal,
    run(work) {
      running.add(work);
      void work.finally(() => running.delete(work));
    },
    hasBacklog: (subscriptionId) => (backlogs.get(subscriptionId) ?? 0) > performance.now(),
    noteBacklog(subscriptionId, hasBacklog) {
      if (hasBacklog) backlogs.set(subscriptionId, performance.now() + backlogMs);
      else backlogs.delete(subscriptionId);
    },
    wake() {
      for (const end of sleepers) end();
    },
    async sleep(ms, { signal, wakes = false, until = [] }) {
      let timer: NodeJS.Timeout | undefined;
      let end = () => {};
      const slept = new Promise<void>((resolve) => {
        end = resolve;
        timer = setTimeout(resolve, ms);
        if (signal.aborted) resolve();
      });
      if (wakes) sleepers.add(end);
      signal.addEventListener('abort', end, { once: true });
      await Promise.race([slept, ...until]);
      clearTimeout(timer);
      sleepers.delete(end);
      signal.removeEventListener('abort', end);
    },
    async close() {
      if (!shutdownSignal.aborted) calledOff.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };
}
