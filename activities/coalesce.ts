// Many small writes that are asked for at about the same time go out as one. Each caller still waits for its own.

export interface CoalesceOptions {
  /** How long the first of a group waits for company. */
  waitMs: number;
  max: number;
}

export function coalesce<T>(
  write: (group: T[]) => Promise<void>,
  { waitMs, max }: CoalesceOptions,
): (item: T) => Promise<void> {
  let group: T[] = [];
  let written: Promise<void> | undefined;
  let release: (() => void) | undefined;

  return function join(item) {
    group.push(item);
    if (!written) {
      const mine = new Promise<void>((resolve) => {
        release = resolve;
        setTimeout(resolve, waitMs);
      }).then(() => {
        const taken = group;
        group = [];
        written = undefined;
        return write(taken);
      });
      written = mine;
    }
    const mine = written;
    if (group.length >= max) release?.();
    return mine;
  };
}
