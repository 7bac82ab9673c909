// Imports until everything is done: the largest that one answer may have, together with a receiver of all events and
// points changes of another merchant; and a larger file, first as a dry run and then as an import, with its memory use.
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { FormData } from 'undici';
import { isFinished } from '../../schemas/batches/batches.schema.js';
import { type Bench, log } from './bench.js';
import { addMembers, aMerchant, type BenchMerchant } from './merchant.js';
import { peakWhile } from './processes.js';
import { type BenchReceiver, startReceiver, subscribe } from './receiver.js';
import { type Row, round, spreadOf } from './row.js';

const answeredRows = 5_000;
const warmUpRows = 500;
const neighbourPerSecond = 10;
const aloneMs = 8_000;
const memoryGoalMb = 300;
const header = 'firstName,lastName,email\n';

const line = (at: number, name: string): string => `Ada,Lovelace${at % 997},member-${at}@${name}.example\n`;

/** A file that is generated row by row. */
function* csv(rows: number, name: string): Generator<string> {
  yield header;
  for (let at = 0; at < rows; at += 1_000)
    yield Array.from({ length: Math.min(1_000, rows - at) }, (_, offset) => line(at + offset, name)).join('');
}

interface BatchSeen {
  createdMs: number;
  finishedMs: number;
}

/**
 * Polls until the batch has ended; returns milliseconds since `began`. Throws when the batch does not complete or has
 * other counts.
 */
async function followed(
  merchant: BenchMerchant,
  { id, began, rows, created }: { id: string; began: number; rows: number; created: number },
): Promise<BatchSeen> {
  let createdMs: number | undefined;
  for (;;) {
    const { phase, counts, reason } = JSON.parse(
      await merchant.call({ method: 'GET', path: `/merchants/me/batches/${id}` }),
    ).data;
    if (counts.created + counts.deduped + counts.failed === rows) createdMs ??= performance.now() - began;
    if (isFinished(phase)) {
      if (phase !== 'completed' || counts.created !== created)
        throw new Error(`The import ended as ${phase} with ${JSON.stringify(counts)}: ${reason}`);
      const finishedMs = performance.now() - began;
      return { createdMs: createdMs ?? finishedMs, finishedMs };
    }
    await sleep(100);
  }
}

/** Makes points changes at a fixed rate while `work` runs. Returns the durations of their answers. */
async function beside(neighbour: BenchMerchant, memberIds: readonly string[], work: Promise<unknown>) {
  const times: number[] = [];
  const answers: Promise<void>[] = [];
  let over = false;
  const stop = () => {
    over = true;
  };
  work.then(stop, stop);
  for (let index = 0; !over; index += 1) {
    const startedAt = performance.now();
    answers.push(
      neighbour.award(memberIds[index % memberIds.length] ?? '').then(() => {
        times.push(performance.now() - startedAt);
      }),
    );
    await sleep(1_000 / neighbourPerSecond);
  }
  await Promise.all(answers);
  await work;
  return spreadOf(times);
}

interface Answered {
  answeredMs: number;
  finishedMs: number;
}

/** Runs the largest import that one answer may have to its end. */
async function answered(merchant: BenchMerchant, name: string, rows = answeredRows): Promise<Answered> {
  const form = new FormData();
  form.set('programId', merchant.program._id);
  form.set('file', new Blob([...csv(rows, name)], { type: 'text/csv' }), 'members.csv');
  const began = performance.now();
  const answer = await merchant.call({ method: 'POST', path: '/merchants/me/members/import', body: form });
  const answeredMs = performance.now() - began;
  const id = JSON.parse(answer).data.batchId;
  return { answeredMs, ...(await followed(merchant, { id, began, rows, created: rows })) };
}

/** Waits for the events of each member, of its two passes, and of the end of the batch. */
async function expectAllReceived(receiver: BenchReceiver): Promise<void> {
  const expected = answeredRows * 3 + 1;
  let received = 0;
  for (let tries = 0; received < expected && tries < 100; tries += 1) {
    received += (await receiver.since()).count;
    await sleep(100);
  }
  if (received < expected) throw new Error(`Of ${expected} webhooks ${received} came.`);
}

/** Measured first alone, then with the other merchant, whose workflows use half of a small machine. */
async function answeredImport(bench: Bench): Promise<Row[]> {
  const receiver = await startReceiver(bench);
  const [merchant, neighbour] = await Promise.all([aMerchant(bench), aMerchant(bench)]);
  await subscribe(merchant, receiver.url);
  await answered(merchant, 'warm-up', warmUpRows);
  await sleep(2_000);
  await receiver.since();
  const alone = await answered(merchant, 'alone');
  await expectAllReceived(receiver);

  const members = await addMembers(bench, { program: neighbour.program, count: 200 });
  const memberIds = members.map(({ _id }) => _id);
  await beside(neighbour, memberIds, sleep(2_000));
  const before = await beside(neighbour, memberIds, sleep(aloneMs));
  await receiver.since();
  const importing = answered(merchant, 'beside');
  const meanwhile = await beside(neighbour, memberIds, importing);
  const besides = await importing;
  await expectAllReceived(receiver);
  await Promise.all([merchant.close(), neighbour.close(), receiver.stop()]);
  const rows = answeredRows.toLocaleString('en');
  const ratio = before.p95 / meanwhile.p95;
  return [
    seconds(`import of ${rows} rows with a receiver: to the answer`, alone.answeredMs, 3),
    seconds('the same, to `batch.completed`', alone.finishedMs, 30),
    seconds(
      `the same beside a neighbour with ${neighbourPerSecond} points changes/s: to the answer`,
      besides.answeredMs,
    ),
    seconds('the same, to `batch.completed`', besides.finishedMs),
    {
      scenario: "the neighbour's points changes meanwhile, p95; before the import",
      ours: meanwhile.p95,
      yardstick: before.p95,
      ratio: round(ratio),
      unit: 'ms',
      goal: '>= 0.5',
      reached: ratio >= 0.5,
      latency: meanwhile,
      yardstickLatency: before,
    },
  ];
}

function seconds(scenario: string, ms: number, goal?: number): Row {
  const ours = round(ms / 1_000);
  const row = { scenario, ours, yardstick: null, ratio: null, unit: 's' };
  return goal === undefined ? { ...row, goal: 'none' } : { ...row, goal: `< ${goal}`, reached: ours < goal };
}

async function beyond(bench: Bench, rows: number): Promise<Row[]> {
  const merchant = await aMerchant(bench);
  const send = (query = '') =>
    merchant.call({
      method: 'POST',
      path: `/merchants/me/imports?programId=${merchant.program._id}${query}`,
      body: Readable.from(csv(rows, 'beyond')),
      headers: { 'content-type': 'text/csv' },
    });
  const run = async () => {
    const began = performance.now();
    const { id } = JSON.parse(await send()).data;
    const acceptedMs = performance.now() - began;
    return { acceptedMs, ...(await followed(merchant, { id, began, rows, created: rows })) };
  };
  const dryRun = async () => {
    const began = performance.now();
    const { created } = JSON.parse(await send('&dryRun=true')).data.counts;
    if (created !== rows) throw new Error(`A dry run of ${rows} rows would create ${created} members.`);
    return performance.now() - began;
  };
  const shown = `import of ${rows.toLocaleString('en')} rows`;
  log('  dry run ...');
  const { made: triedMs, peak: triedPeak } = await peakWhile(bench.pids, dryRun);
  const known = await bench.deps.collections.members.countDocuments({ merchantId: merchant.id });
  if (known > 0) throw new Error(`A dry run created ${known} members.`);
  log(`  tried in ${round(triedMs / 1_000)} s; doing it ...`);
  const { made: done, peak } = await peakWhile(bench.pids, run);
  await merchant.close();
  const peakOf = (name: 'api' | 'worker') => Math.max(triedPeak[name] ?? 0, peak[name] ?? 0);
  return [
    seconds(`dry ${shown}, to its answer`, triedMs),
    seconds(`${shown}: to the answer 202, the file stored`, done.acceptedMs),
    seconds(`${shown}: to the last member`, done.createdMs, round((rows / 100_000) * 60)),
    seconds(`${shown}: to \`batch.completed\``, done.finishedMs),
    ...(['api', 'worker'] as const).map((name): Row => {
      const megabytes = peakOf(name);
      const row = { yardstick: null, ratio: null, unit: 'MB', goal: `< ${memoryGoalMb}` };
      return { ...row, scenario: `${shown}: peak of ${name}`, ours: megabytes, reached: megabytes < memoryGoalMb };
    }),
  ];
}

export interface LargeImportSize {
  /** Rows of the file that is too large for one answer. */
  rows: number;
}

export async function benchLargeImport(bench: Bench, { rows }: LargeImportSize): Promise<Row[]> {
  return [...(await answeredImport(bench)), ...(await beyond(bench, rows))];
}
