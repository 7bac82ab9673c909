// Points changes over the API, compared with the same reads and the same transaction by the bare driver.
import { MongoClient } from 'mongodb';
import { bareChange } from './bareChange.js';
import { type Bench, settled } from './bench.js';
import {
  closedLoop,
  type Measured,
  ofMedians,
  ofRates,
  ofTails,
  ownOf,
  type Rounds,
  sideBySide,
  sooner,
} from './load.js';
import { addMembers, aMerchant, type BenchMerchant } from './merchant.js';
import { memoryOf } from './processes.js';
import { type Row, round } from './row.js';

const members = 2_000;

interface Changes {
  ours: (callers: number, ms: number) => Promise<Measured>;
  yardstick: (callers: number, ms: number) => Promise<Measured>;
  close: () => Promise<void>;
}

interface Sides extends Changes {
  merchant: BenchMerchant;
}

export async function pointsSides(bench: Bench): Promise<Sides> {
  const merchant = await aMerchant(bench, { callers: 256 });
  const { program } = merchant;
  const mine = await addMembers(bench, { program, count: members });
  const theirs = await addMembers(bench, { program, count: members, from: members });
  const changes = changesOf(bench, { mine: mine.map(({ _id }) => ({ merchant, _id })), theirs });
  return {
    ...changes,
    merchant,
    async close() {
      await merchant.close();
      await changes.close();
    },
  };
}

export interface ChangedMembers {
  mine: readonly { merchant: BenchMerchant; _id: string }[];
  /** Those that the driver changes. */
  theirs: readonly { _id: string }[];
}

export function changesOf(bench: Bench, { mine, theirs }: ChangedMembers): Changes {
  const mongo = new MongoClient(bench.deps.config.MONGODB_URI, {
    writeConcern: { w: 'majority', journal: true },
    maxPoolSize: 256,
  });
  const bare = bareChange(mongo.db(bench.deps.config.MONGODB_DATABASE), mongo);

  return {
    ours: (callers, ms) =>
      closedLoop({ callers, ms }, (caller) => {
        const { merchant, _id } = ownOf(mine, caller, callers);
        return merchant.award(_id);
      }),
    yardstick: (callers, ms) => closedLoop({ callers, ms }, (caller) => bare(ownOf(theirs, caller, callers))),
    close: () => mongo.close(),
  };
}

export async function benchPoints(bench: Bench, { rounds, oursMs, yardstickMs }: Rounds): Promise<Row[]> {
  const sides = await pointsSides(bench);
  const callers = 64;
  await sides.ours(callers, 1_500);
  await sides.yardstick(callers, 1_000);
  await settled(bench);
  const { ours, yardstick, cpu, ratios } = await sideBySide({
    pids: bench.pids,
    rounds,
    ours: () => sides.ours(callers, oursMs),
    yardstick: () => sides.yardstick(callers, yardstickMs),
    settle: () => settled(bench),
  });
  const shown = { cpu, memory: memoryOf(bench.pids) };
  await sides.close();
  const [rates, tails] = [ofRates(ours, yardstick), ofTails(ours, yardstick)];
  return [
    {
      scenario: 'points accepted, 64 callers; the same transaction by the bare driver',
      ours: round(ours.rate),
      yardstick: round(yardstick.rate),
      ratio: round(rates),
      ...ratios(ofRates),
      unit: 'changes/s',
      goal: '>= 0.5',
      reached: rates >= 0.5,
      latency: ours.latency,
      yardstickLatency: yardstick.latency,
      ...shown,
    },
    {
      scenario: 'p99 of the same; the same',
      ours: ours.latency.p99,
      yardstick: yardstick.latency.p99,
      ratio: round(tails),
      ...ratios(ofTails),
      unit: 'ms',
      goal: '>= 0.33',
      reached: tails >= 0.33,
    },
  ];
}

export async function benchPointsOne(bench: Bench, { rounds, oursMs, yardstickMs }: Rounds): Promise<Row[]> {
  const sides = await pointsSides(bench);
  await sides.ours(1, 1_000);
  await sides.yardstick(1, 500);
  await settled(bench);
  const { ours, yardstick, cpu, ratios } = await sideBySide({
    pids: bench.pids,
    rounds,
    ours: () => sides.ours(1, oursMs),
    yardstick: () => sides.yardstick(1, yardstickMs),
    settle: () => settled(bench),
    better: sooner,
  });
  await sides.close();
  const more = ours.latency.p50 - yardstick.latency.p50;
  return [
    {
      scenario: 'points, one caller, p50; the same transaction by the bare driver',
      ours: ours.latency.p50,
      yardstick: yardstick.latency.p50,
      ratio: round(ofMedians(ours, yardstick)),
      ...ratios(ofMedians),
      unit: 'ms',
      goal: 'yardstick + 5 ms',
      reached: more <= 5,
      latency: ours.latency,
      yardstickLatency: yardstick.latency,
      cpu,
    },
  ];
}
