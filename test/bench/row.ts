// One row of the table: the service's result and that of its yardstick in the same minute. A ratio is how many times
// better the service is, so more is better for every unit.

/** Milliseconds. */
export interface Spread {
  p50: number;
  p95: number;
  p99: number;
}

export interface Ratios {
  min: number;
  median: number;
  max: number;
  rounds: number;
}

export const processNames = ['api', 'worker', 'mongodb', 'temporal'] as const;
export type ProcessName = (typeof processNames)[number];
export type PerProcess = Partial<Record<ProcessName, number>>;

export interface SizeCost {
  size: number;
  ours: number;
  yardstick: number | null;
}

export interface Row {
  /** Names the scenario and, after a semicolon, the yardstick. */
  scenario: string;
  ours: number;
  yardstick: number | null;
  ratio: number | null;
  unit: string;
  goal: string;
  /** Whether the goal was reached; absent when the row has no goal. */
  reached?: boolean;
  /**
   * The spread over the rounds in which the service and the yardstick alternated; `ratio` is that of the best round of
   * each.
   */
  ratios?: Ratios;
  latency?: Spread;
  yardstickLatency?: Spread;
  /** CPU seconds per 1,000 operations of the service, including their later work. */
  cpu?: PerProcess;
  /** Resident MB at the end. */
  memory?: PerProcess;
  /** What one line of the table costs at each size, smallest first. */
  sizes?: SizeCost[];
  note?: string;
  /** Why the goal was not reached. */
  reason?: string;
}

export const round = (value: number, digits = 2): number => {
  const by = 10 ** digits;
  return Math.round(value * by) / by;
};

/** Undefined for fewer than two values, which have no spread. */
export function ratiosOf(values: readonly number[]): Ratios | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low, high, min, max] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)], sorted[0], sorted.at(-1)];
  if (sorted.length < 2 || low === undefined || high === undefined || min === undefined || max === undefined) return;
  return { min: round(min), median: round((low + high) / 2), max: round(max), rounds: sorted.length };
}

/** Expects sorted numbers. */
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

/** The row of what a comparison cost, in processor seconds per 1,000 operations. */
export function processorRow(
  { ours, yardstick }: { ours: number; yardstick: number },
  facts: Pick<Row, 'scenario' | 'unit'> & { least: number },
): Row {
  const { least, ...named } = facts;
  const ratio = yardstick / ours;
  return {
    ...named,
    ours: round(ours),
    yardstick: round(yardstick),
    ratio: round(ratio),
    goal: `>= ${least}`,
    reached: ratio >= least,
  };
}

/**
 * The row of a latency that something else may lengthen at most `most` times. The best round of each counts; the
 * rounds with and without it alternated.
 */
export function slowdownRow(
  { withIt, without }: { withIt: readonly Spread[]; without: readonly Spread[] },
  { of, most, scenario }: { of: keyof Spread; most: number; scenario: string },
): Row {
  const best = (spreads: readonly Spread[]) => spreads.reduce((one, other) => (other[of] < one[of] ? other : one));
  const [next, alone] = [best(withIt), best(without)];
  const ratio = alone[of] / next[of];
  const ratios = ratiosOf(without.map((one, index) => one[of] / (withIt[index]?.[of] ?? Number.NaN)));
  return {
    scenario,
    ours: next[of],
    yardstick: alone[of],
    ratio: round(ratio),
    ...(ratios && { ratios }),
    unit: 'ms',
    goal: `>= ${round(1 / most)}`,
    reached: ratio >= 1 / most,
    latency: next,
    yardstickLatency: alone,
  };
}

/** The first line of an error. */
export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';

/** The note of a row whose yardstick could not be installed or started. */
export const notCompared = (reason: string): string => `Not compared: ${reason}`;
