// How old the nth newest row of a list was when it was last read, so that the next reading of such a page can be bounded below:
// rows younger than that are at least n for as long as none is removed, whatever came since. A bound that is too
// narrow shows as a page that is not full; then the reader asks again without one.
import { LRUCache } from 'lru-cache';

const lists = 2_000;
const depthsOfOne = 50;

export interface KnownDepths {
  /** The narrowest known bound that holds the `depth` newest rows. */
  since: (list: string, depth: number) => Date | undefined;
  /** The row at `depth` was created at `at`. */
  note: (list: string, depth: number, at: Date) => void;
}

export function createKnownDepths(): KnownDepths {
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
