// Load in a closed loop: so many callers, each with one operation in flight, for so long. Ours and the yardstick take turns
// in short rounds and the best round of each counts, so that what else the machine does falls on neither.
import { added, cpuMeter, type Pids, perThousand } from './processes.js';
import { type PerProcess, type Spread, spreadOf } from './row.js';

export interface Measured {
  /** Operations a second. */
  rate: number;
  operations: number;
  latency: Spread;
}

export interface Load {
  callers: number;
  ms: number;
}

/** `operation` gets the number of its caller; when it throws, the whole measurement does. */
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
export const faster: Better = (one, other) => one.rate > other.rate;
export const sooner: Better = (one, other) => one.latency.p50 < other.latency.p50;

export interface SideBySide {
  /** Whose processor time is counted while ours works and settles. */
  pids: Pids;
  rounds: number;
  ours: () => Promise<Measured>;
  yardstick: () => Promise<Measured>;
  /** After each round of ours, before the yardstick's: what ours left behind must not slow the yardstick down. */
  settle?: () => Promise<void>;
  better?: Better;
}

export interface Compared {
  ours: Measured;
  yardstick: Measured;
  /** Of all rounds. */
  operations: number;
  /** Processor seconds for 1,000 operations of ours, with what followed from them. */
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
  return { ours: best(mine), yardstick: best(theirs), operations, cpu: perThousand(cpu, operations) };
}
