// The steps of a points change whose answer waits for the push, and those that an update-with-start with one local
// activity has as well: one change at a time, without other work. The compiled service marks the end of its steps
// (pushStepsHook.mjs); Temporal's are in the history of the workflow.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { z } from 'zod';
import { type Bench, benchFolder, settled } from './bench.js';
import { inTurn } from './load.js';
import type { ProcessList } from './processList.js';
import { aMerchantWithDevices, pushEnv } from './push.js';
import { type Row, round, spreadOf } from './row.js';
import { temporalYardstick } from './yardstick.js';

const file = join(benchFolder, 'push-steps.jsonl');
const mark = z.object({ name: z.string(), at: z.number() });

/** What ends each step, in their order. */
const steps = {
  committed: 'request, reads and transaction in the API',
  started: 'start of the workflow',
  task: 'until its first task begins',
  begun: 'until the local activity begins',
  read: "the activity's reads",
  pushed: 'push to APNs',
  recorded: 'record of the push',
  seen: 'until the API reads it',
  answered: 'the answer, stored with its key',
} as const;
const ends = Object.keys(steps) as (keyof typeof steps)[];

/** Milliseconds since the epoch. */
type Moments = Partial<Record<keyof typeof steps | 'sent', number>>;

const now = (): number => performance.timeOrigin + performance.now();

export async function pushStepsEnv(processes: ProcessList): Promise<NodeJS.ProcessEnv> {
  const hook = new URL('pushStepsHook.mjs', import.meta.url).href;
  return { ...(await pushEnv(processes)), NODE_OPTIONS: `--import ${hook}`, BENCH_STEPS_FILE: file };
}

export async function benchPushSteps(bench: Bench, { changes }: { changes: number }): Promise<Row[]> {
  const { merchant, members, award } = await aMerchantWithDevices(bench);
  const temporal = await temporalYardstick(bench);
  const connection = await Connection.connect({ address: bench.temporalAddress });
  const { workflow } = new Client({ connection });
  const measured: Record<'ours' | 'yardstick', Moments[]> = { ours: [], yardstick: [] };

  const timed = async (work: () => Promise<string>): Promise<Moments> => {
    const sent = now();
    const workflowId = await work();
    const answered = now();
    await settled(bench);
    const { events } = await workflow.getHandle(workflowId).fetchHistory();
    const begun = events?.find((event) => event.workflowTaskStartedEventAttributes);
    return { sent, started: tsToMs(events?.[0]?.eventTime), task: tsToMs(begun?.eventTime), answered };
  };
  for (let index = 0; index < changes * 2; index += 1) {
    if (index === changes) for (const side of Object.values(measured)) side.length = 0;
    writeFileSync(file, '');
    const member = inTurn(members, index)._id;
    const moments = await timed(async () => JSON.parse(await award(member)).data.transaction.id);
    const marks = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => mark.parse(JSON.parse(line)));
    measured.ours.push({ ...moments, ...Object.fromEntries(marks.map(({ name, at }) => [name, at])) });
    measured.yardstick.push(await timed(temporal.updateWithStart));
  }
  await Promise.all([connection.close(), temporal.close(), merchant.close()]);
  return rowsOf(measured);
}

function rowsOf({ ours, yardstick }: Record<'ours' | 'yardstick', readonly Moments[]>): Row[] {
  const between = (all: readonly Moments[], from: keyof Moments, to: keyof Moments) =>
    spreadOf(all.map((moments) => (moments[to] ?? Number.NaN) - (moments[from] ?? Number.NaN)));
  /** The last moment before `end` that this side has. */
  const fromOf = ([first]: readonly Moments[], end: (typeof ends)[number]) =>
    ends.slice(0, ends.indexOf(end)).findLast((name) => first?.[name] !== undefined) ?? 'sent';
  const row = (what: string, from: { ours: keyof Moments; yardstick: keyof Moments }, to: keyof Moments): Row => {
    const latency = between(ours, from.ours, to);
    const theirs = between(yardstick, from.yardstick, to);
    const isSame = from.yardstick === from.ours || from.yardstick === 'sent';
    const isKnown = isSame && yardstick[0]?.[to] !== undefined;
    return {
      scenario: `a lone change with push, ${what}, p50; the same of an update-with-start`,
      ours: latency.p50,
      yardstick: isKnown ? theirs.p50 : null,
      ratio: isKnown ? round(theirs.p50 / latency.p50) : null,
      unit: 'ms',
      goal: 'none',
      latency,
      ...(isKnown && { yardstickLatency: theirs }),
    };
  };
  return [
    ...ends.map((end, index) =>
      row(`${index + 1}. ${steps[end]}`, { ours: fromOf(ours, end), yardstick: fromOf(yardstick, end) }, end),
    ),
    row('all steps', { ours: 'sent', yardstick: 'sent' }, 'answered'),
  ];
}
