// The full effect of a points change (balance, ledger, timeline, event, envelope, webhook sent and logged) under
// continuous load. The yardstick is one empty workflow for each change on the same Temporal.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, settled } from './bench.js';
import { closedLoop, type Load, type Measured, ofRates, ownOf, paced, type Rounds, sideBySide } from './load.js';
import { addMembers, aMerchant } from './merchant.js';
import { memoryOf } from './processes.js';
import { type BenchReceiver, startReceiver, subscribe } from './receiver.js';
import { type Row, round, spreadOf } from './row.js';
import { temporalYardstick } from './yardstick.js';

const callers = 32;
const pacedMs = 8_000;

export interface EffectSize extends Rounds {
  /** Whether the two lines at a fixed rate are measured too. */
  isPaced: boolean;
}

/** Measures until the last effect is complete, not only until the last answer. */
export async function wholeEffects(bench: Bench, load: Load, award: Award): Promise<Measured> {
  const began = performance.now();
  const measured = await closedLoop(load, award);
  await settled(bench);
  return { ...measured, rate: measured.operations / ((performance.now() - began) / 1_000) };
}

export async function benchEffect(bench: Bench, { rounds, oursMs, yardstickMs, isPaced }: EffectSize): Promise<Row[]> {
  const receiver = await startReceiver(bench);
  const merchant = await aMerchant(bench, { callers });
  await subscribe(merchant, receiver.url);
  const members = await addMembers(bench, { program: merchant.program, count: 2_000 });
  const temporal = await temporalYardstick(bench);
  const award = (caller: number) => merchant.award(ownOf(members, caller, callers)._id);
  const ours = () => wholeEffects(bench, { callers, ms: oursMs }, award);
  const yardstick = () => closedLoop({ callers, ms: yardstickMs }, temporal.empty);

  await closedLoop({ callers, ms: 1_000 }, award);
  await settled(bench);
  await closedLoop({ callers, ms: 1_000 }, temporal.empty);
  await receiver.since();
  const compared = await sideBySide({ pids: bench.pids, rounds, ours, yardstick });
  const { count } = await receiver.since();
  if (count < compared.operations) throw new Error(`${compared.operations} changes, but ${count} webhooks.`);

  const memory = memoryOf(bench.pids);
  const rates = { ours: compared.ours.rate, yardstick: compared.yardstick.rate };
  const pacedRows = isPaced ? await pacedEffect({ bench, receiver, award }, rates) : [];
  await Promise.all([temporal.close(), merchant.close(), receiver.stop()]);
  const ratio = ofRates(compared.ours, compared.yardstick);
  return [
    {
      scenario: 'whole effect with a logged webhook, sustained; an empty workflow each',
      ours: round(compared.ours.rate),
      yardstick: round(compared.yardstick.rate),
      ratio: round(ratio),
      ...compared.ratios(ofRates),
      unit: 'effects/s',
      goal: '>= 5',
      reached: ratio >= 5,
      latency: compared.ours.latency,
      yardstickLatency: compared.yardstick.latency,
      cpu: compared.cpu,
      memory,
    },
    ...pacedRows,
  ];
}

type Award = (caller: number) => Promise<unknown>;

interface Effects {
  bench: Bench;
  receiver: BenchReceiver;
  award: Award;
}

async function pacedEffect(
  { bench, receiver, award }: Effects,
  rates: { ours: number; yardstick: number },
): Promise<Row[]> {
  const fourfold = rates.yardstick * 4;
  const oldest = await oldestAt(bench, award, fourfold);
  const half = rates.ours / 2;
  await receiver.since();
  const { rate: halfRate } = await paced({ callers, ms: pacedMs, perSecond: half }, award);
  await settled(bench);
  const ages = spreadOf((await receiver.since()).ages);
  return [
    {
      scenario: `oldest event of the outbox at 4 times its rate (asked ${round(fourfold, 0)}/s, came ${round(oldest.rate, 0)}/s)`,
      ours: round(oldest.ms, 0),
      yardstick: null,
      ratio: null,
      unit: 'ms',
      goal: '< 2,000',
      reached: oldest.ms < 2_000 && oldest.rate > fourfold * 0.9,
    },
    {
      scenario: `commit to first attempt at half of our rate (asked ${round(half, 0)}/s, came ${round(halfRate, 0)}/s), p99`,
      ours: ages.p99,
      yardstick: null,
      ratio: null,
      unit: 'ms',
      goal: '< 1,000',
      reached: ages.p99 < 1_000 && halfRate > half * 0.9,
      latency: ages,
    },
  ];
}

/** The greatest age of an unpublished event while changes came at this rate. */
async function oldestAt(bench: Bench, award: Award, perSecond: number): Promise<{ ms: number; rate: number }> {
  let over = false;
  let ms = 0;
  const looking = (async () => {
    while (!over) {
      const [event] = await bench.deps.collections.events
        .find({ state: 'new' }, { projection: { occurredAt: 1 } })
        .limit(1_000)
        .toArray()
        .then((events) => events.sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime()));
      if (event) ms = Math.max(ms, Date.now() - event.occurredAt.getTime());
      await sleep(200);
    }
  })();
  const { rate } = await paced({ callers, ms: pacedMs, perSecond }, award);
  over = true;
  await looking;
  await settled(bench);
  return { ms, rate };
}
