// Work on one key runs one after another in this process. The database would keep concurrent changes of one member apart
// anyway, but by conflict and retry; waiting in line costs nothing. While the database is away the line is dissolved: each of
// it would only wait for the same silence.
import { ServiceError } from '../schemas/errors.js';
import { isAway } from './isAway.js';

export function createTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  /** Each resolves to whether its work found the database away. */
  const last = new Map<string, Promise<boolean>>();

  return async function inTurn(key, work) {
    const before = last.get(key);
    const afterThem = (away: boolean) => {
      if (away) throw new ServiceError('UNAVAILABLE');
      return work();
    };
    const mine = before ? before.then(afterThem) : work();
    const settled = mine.then(() => false, isAway);
    last.set(key, settled);
    try {
      return await mine;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
}
