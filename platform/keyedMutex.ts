// A keyed mutex: work on one key runs one after another within this process. MongoDB serialises concurrent changes of
// one member too, but with conflicts and retries; waiting is cheaper. When the work on a key fails because the database
// is unavailable, all work that waits for that key fails with UNAVAILABLE, because it would only run into the same
// timeout. Not async-mutex or p-limit: as many lines stay here, and work on a free key would not begin at once.
import { ServiceError } from '../schemas/shared/errors.js';
import { isUnavailable } from './mongodb/isUnavailable.js';

export function createKeyedMutex(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  /**
   * The newest work on each key. Each promise resolves to true when the work failed because the database is
   * unavailable.
   */
  const last = new Map<string, Promise<boolean>>();

  return async function runExclusive(key, work) {
    const previous = last.get(key);
    const afterPrevious = (unavailable: boolean) => {
      if (unavailable) throw new ServiceError('UNAVAILABLE');
      return work();
    };
    const current = previous ? previous.then(afterPrevious) : work();
    const settled = current.then(() => false, isUnavailable);
    last.set(key, settled);
    try {
      return await current;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
}
