// Closed-loop load: a number of callers, each with one operation at a time, for some seconds. The service and its
// yardstick alternate in short rounds. The best round of each counts, which reduces the effect of other work on the
// machine; the ratios of all rounds show the spread.
import { setTimeout as sleep } from 'node:timers/promises';
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

/** Calls `operation` at a fixed rate, later only while all callers are busy. Throws when one operation throws. */
export async function paced(
  { callers, ms, perSecond }: Load & { perSecond: number },
  operation: (caller: number) => Promise<unknown>,
): Promise<Measured> {
  const times: number[] = [];
  const began = performance.now();
  const total = Math.round((perSecond * ms) / 1_000);
  let next = 0;
  const loop = async (caller: number) => {
    while (next < total) {
      const due = began + (next / perSecond) * 1_000;
      next += 1;
      await sleep(Math.max(due - performance.now(), 0));
      const startedAt = performance.now();
      await operation(caller);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)));
  const seconds = (performance.now() - began) / 1_000;
  return { rate: total / seconds, operations: total, latency: spreadOf(times) };
}

/** Calls `operation` that often, with 0 and up, at most `callers` at a time. Throws when one operation throws. */
export async function numbered(
  { callers, total }: { callers: number; total: number },
  operation: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const loop = async () => {
    while (next < total) {
      next += 1;
      await operation(next - 1);
    }
  };
  await Promise.all(Array.from({ length: callers }, loop));
}

/** The items one after the other, again and again. */
export function inTurn<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('There are no items.');
  return item;
}

/** An item that no other of the `callers` gets, because concurrent changes of one member would wait for each other. */
export function ownOf<T>(items: readonly T[], caller: number, callers: number): T {
  const own = Math.floor(Math.random() * Math.floor(items.length / callers)) * callers + caller;
  const item = items[own];
  if (item === undefined) throw new Error('There are more callers than items.');
  return item;
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
  /** The processor seconds so far of all processes of a side, its callers included. */
  clocks?: { ours: () => number; yardstick: () => number };
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
  /** Processor seconds per 1,000 operations of each side by `clocks`; zero without them. */
  seconds: { ours: number; yardstick: number };
}

const noClock = () => 0;

export async function sideBySide({
  pids,
  rounds,
  ours,
  yardstick,
  settle = async () => {},
  better = faster,
  clocks = { ours: noClock, yardstick: noClock },
}: SideBySide): Promise<Compared> {
  const mine: Measured[] = [];
  const theirs: Measured[] = [];
  const used = { ours: 0, yardstick: 0 };
  let cpu: PerProcess = {};
  for (let round = 0; round < rounds; round += 1) {
    const usedSince = cpuMeter(pids);
    const began = clocks.ours();
    mine.push(await ours());
    await settle();
    used.ours += clocks.ours() - began;
    cpu = added(cpu, usedSince());
    const turned = clocks.yardstick();
    theirs.push(await yardstick());
    used.yardstick += clocks.yardstick() - turned;
  }
  const best = (all: Measured[]): Measured => all.reduce((one, other) => (better(other, one) ? other : one));
  const count = (all: Measured[]) => all.reduce((sum, one) => sum + one.operations, 0);
  const operations = count(mine);
  return {
    ours: best(mine),
    yardstick: best(theirs),
    operations,
    cpu: perThousand(cpu, operations),
    seconds: {
      ours: (used.ours / operations) * 1_000,
      yardstick: (used.yardstick / count(theirs)) * 1_000,
    },
    ratios(ratio) {
      const ratios = ratiosOf(mine.flatMap((one, at) => (theirs[at] ? [ratio(one, theirs[at])] : [])));
      return { ...(ratios && { ratios }) };
    },
  };
}
