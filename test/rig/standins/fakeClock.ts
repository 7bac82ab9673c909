// A clock that only moves when the test advances it. Sleepers wake in the order of their waking times.
export interface FakeClock {
  now: () => number;
  sleep: (ms: number) => Promise<void>;
  advance: (ms: number) => Promise<void>;
}

export function createFakeClock(start = 0): FakeClock {
  let time = start;
  const sleepers: { at: number; wake: () => void }[] = [];

  return {
    now: () => time,
    sleep: (ms) => new Promise((resolve) => sleepers.push({ at: time + ms, wake: resolve })),
    async advance(ms) {
      const end = time + ms;
      await settle();
      for (let next = take(sleepers, end); next !== undefined; next = take(sleepers, end)) {
        time = Math.max(time, next.at);
        next.wake();
        await settle();
      }
      time = end;
    },
  };
}

function take(
  sleepers: { at: number; wake: () => void }[],
  until: number,
): { at: number; wake: () => void } | undefined {
  const [first] = [...sleepers].sort((one, other) => one.at - other.at);
  if (first === undefined || first.at > until) return undefined;
  sleepers.splice(sleepers.indexOf(first), 1);
  return first;
}

/** Runs all callbacks that are ready. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
