// Runs the same read once for all callers that ask for it at the same time. Not `fetch` of lru-cache, which gives
// callers a read that began before they asked.

export type Coalesce = <T>(key: string, read: () => Promise<T>) => Promise<T>;

interface Reads {
  running: Promise<unknown>;
  /** Starts when the running read ends, so that no caller gets a result that was read before it asked. */
  next?: Promise<unknown>;
}

export function createCoalesce(): Coalesce {
  const reads = new Map<string, Reads>();

  return function coalesce<T>(key: string, read: () => Promise<T>): Promise<T> {
    const start = (): Promise<T> => {
      const running = read();
      const mine: Reads = { running };
      reads.set(key, mine);
      const end = () => {
        if (reads.get(key) === mine && mine.next === undefined) reads.delete(key);
      };
      running.then(end, end);
      return running;
    };
    const known = reads.get(key);
    if (!known) return start();
    known.next ??= known.running.then(start, start);
    // All callers of one key read the same thing, so they get the same type.
    return known.next as Promise<T>;
  };
}
