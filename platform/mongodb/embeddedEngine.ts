// What the service does only for the embedded engine (docs/embedded-engine.md); MONGODB_EMBEDDED switches it on. This
// file caches the creation time of the row at a given depth of a list, newest first. The next read of that page can
// then filter by `createdAt >= bound`, so that this engine does not sort the whole list. New rows only add to the rows
// within the bound. When rows were removed, the bounded page may not be full, and the reader must read it again without
// a bound.
import { LRUCache } from 'lru-cache';

const lists = 2_000;
const depthsOfOne = 50;

export interface PageBounds {
  /** The latest known time since which at least `depth` rows were created, or undefined when none is known. */
  since: (list: string, depth: number) => Date | undefined;
  /** Records that the row at position `depth` was created at `at`. */
  note: (list: string, depth: number, at: Date) => void;
}

export function createPageBounds(): PageBounds {
  const known = new LRUCache<string, LRUCache<number, Date>>({ max: lists });
  return {
    since(list, depth) {
      const deepEnough = [...(known.get(list)?.entries() ?? [])].filter(([reached]) => reached >= depth);
      const times = deepEnough.map(([, at]) => at.getTime());
      return times.length > 0 ? new Date(Math.max(...times)) : undefined;
    },
    note(list, depth, at) {
      const depths = known.get(list) ?? new LRUCache<number, Date>({ max: depthsOfOne });
      depths.set(depth, at);
      known.set(list, depths);
    },
  };
}
