// Work on one key runs one after another in this process. The database would keep concurrent changes of one member apart
// anyway, but by conflict and retry; waiting in line costs nothing.

export function createTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();

  return async function inTurn(key, work) {
    const before = last.get(key);
    const mine = before ? before.then(work, work) : work();
    const settled = mine.then(
      () => {},
      () => {},
    );
    last.set(key, settled);
    try {
      return await mine;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
}
