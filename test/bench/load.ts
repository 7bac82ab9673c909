// Closed-loop load: a number of callers, each with one operation at a time, for some seconds. The service and its
// yardstick alternate in short rounds. The best round of each counts, which reduces the effect of other work on the
// machine; the ratios of all rounds show the spread.
import { added, cpuMeter, type Pids, perThousand } from './processes.js';
import { type PerProcess, type Ratios, ratiosOf, type Spread, spreadOf } from './row.js';

export interface Measured {
  /** Operations per second. */
  rate: number;
  operations: number;
  latency: Spread;
}

export interface Load {
  callers: number;
  ms: number;
}

/** Calls `operation` with the number of its caller. Throws when one operation throws. */
export async function closedLoop(
  { callers, ms }: Load,
  operation: (caller: number) => Promise<unknown>,
): Promise<Measured> {
  const times: number[] = [];
  const began = performance.now();
  const until = began + ms;
  const loop = async (caller: number) => {
    while (performance.now() < until) {
      const startedAt = performance.now();
      await operation(caller);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)));
  const seconds = (performance.now() - began) / 1_000;
  return { rate: times.length / seconds, operations: times.length, latency: spreadOf(times) };
}

export type Better = (one: Measured, other: Measured) => boolean;
/** The ratio of the service to its yardstick; more is better. */
export type Ratio = (ours: Measured, yardstick: Measured) => number;
export const ofRates: Ratio = (ours, yardstick) => ours.rate / yardstick.rate;
export const ofMedians: Ratio = (ours, yardstick) => yardstick.latency.p50 / ours.latency.p50;
export const ofTails: Ratio = (ours, yardstick) => yardstick.latency.p99 / ours.latency.p99;

export const faster: Better = (one, other) => one.rate > other.rate;
export const sooner: Better = (one, other) => one.latency.p50 < other.latency.p50;

/** How long a scenario measures. */
export interface Rounds {
  rounds: number;
  oursMs: number;
  yardstickMs: number;
}

export interface SideBySide {
  /** The processes whose processor time is counted while the service works and settles. */
  pids: Pids;
  rounds: number;
  ours: () => Promise<Measured>;
  yardstick: () => Promise<Measured>;
  /** Called after each round of the service, so that its remaining work does not slow the yardstick's round. */
  settle?: () => Promise<void>;
  better?: Better;
}

export interface Compared {
  ours: Measured;
  yardstick: Measured;
  /** The sum over all rounds. */
  operations: number;
  /** The spread of `ratio` over the rounds. */
  ratios: (ratio: Ratio) => { ratios?: Ratios };
  /** Processor seconds per 1,000 operations of the service, including the later work. */
  cpu: PerProcess;
}

export async function sideBySide({
  pids,
  rounds,
  ours,
  yardstick,
  settle = async () => {},
  better = faster,
}: SideBySide): Promise<Compared> {
  const mine: Measured[] = [];
  const theirs: Measured[] = [];
  let cpu: PerProcess = {};
  for (let round = 0; round < rounds; round += 1) {
    const used = cpuMeter(pids);
    mine.push(await ours());
    await settle();
    cpu = added(cpu, used());
    theirs.push(await yardstick());
  }
  const best = (all: Measured[]): Measured => all.reduce((one, other) => (better(other, one) ? other : one));
  const operations = mine.reduce((sum, one) => sum + one.operations, 0);
  return {
    ours: best(mine),
    yardstick: best(theirs),
    operations,
    cpu: perThousand(cpu, operations),
    ratios(ratio) {
      const ratios = ratiosOf(mine.flatMap((one, at) => (theirs[at] ? [ratio(one, theirs[at])] : [])));
      return { ...(ratios && { ratios }) };
    },
  };
}
