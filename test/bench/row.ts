// One line of the table: what the service did beside what its yardstick did in the same minute. A ratio always says how many
// times better ours is, so that more is better whatever the unit.

/** Milliseconds. */
export interface Spread {
  p50: number;
  p95: number;
  p99: number;
}

export const processNames = ['api', 'worker', 'mongodb', 'temporal'] as const;
export type ProcessName = (typeof processNames)[number];
export type PerProcess = Partial<Record<ProcessName, number>>;

export interface Row {
  /** Names the yardstick behind its semicolon. */
  scenario: string;
  ours: number;
  yardstick: number | null;
  ratio: number | null;
  unit: string;
  goal: string;
  /** Whether the goal was reached; absent where the row is only shown beside another. */
  reached?: boolean;
  latency?: Spread;
  yardstickLatency?: Spread;
  /** CPU seconds per 1,000 operations of ours, all that followed from them included. */
  cpu?: PerProcess;
  /** Resident MB at the end. */
  memory?: PerProcess;
  note?: string;
  /** Why the goal was not reached. */
  reason?: string;
}

export const round = (value: number, digits = 2): number => {
  const by = 10 ** digits;
  return Math.round(value * by) / by;
};

/** Of sorted numbers. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

export function spreadOf(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    p50: round(percentile(sorted, 0.5)),
    p95: round(percentile(sorted, 0.95)),
    p99: round(percentile(sorted, 0.99)),
  };
}
