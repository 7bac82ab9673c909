// How long the transactions of gestures take while bulk work is under way, and how long they take otherwise: the slowest tenth,
// for it is there that somebody is held up first.

/** In milliseconds; `endedAt` from anywhere on. */
export interface Timed {
  ms: number;
  endedAt: number;
}

export interface GesturePace {
  took(transactions: readonly Timed[], besideBulk: boolean): void;
  /** How many times as long as otherwise they take beside bulk by now; 1 where too little is known of either. */
  slowdown(now: number): number;
}

const share = 0.9;
/** So many are remembered; of fewer than the fewest nothing is said. */
const remembered = { most: 300, fewest: 10 };
/** What gestures took longer ago than this beside bulk says nothing of now. */
const recentMs = 5_000;

function slow(transactions: readonly Timed[]): number | undefined {
  if (transactions.length < remembered.fewest) return undefined;
  return transactions.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(transactions.length * share)];
}

export function createGesturePace(): GesturePace {
  let otherwise: Timed[] = [];
  let beside: Timed[] = [];

  return {
    took(transactions, besideBulk) {
      if (besideBulk) beside = [...beside, ...transactions].slice(-remembered.most);
      else otherwise = [...otherwise, ...transactions].slice(-remembered.most);
    },
    slowdown(now) {
      const lately = slow(beside.filter(({ endedAt }) => now - endedAt <= recentMs));
      const usual = slow(otherwise);
      return lately === undefined || usual === undefined ? 1 : lately / usual;
    },
  };
}
