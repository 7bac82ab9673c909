// What enrollments, changes, deliveries and imported rows cost: actions and workflows at Temporal, and in MongoDB
// documents and bytes. The wallets are real.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { BSON } from 'mongodb';
import { until } from '../../stack/until.js';
import { runningWork } from '../crash/evidence.js';
import { type Bench, settled } from './bench.js';
import { actionsSince, idleActions } from './idle.js';
import { importSides } from './import.js';
import { inTurn, numbered } from './load.js';
import { addMembers, aMerchant, type BenchMerchant } from './merchant.js';
import { type Row, round } from './row.js';
import { membersWithPhones } from './tapToFace.js';

const bulkCallers = 64;
/** What is written in the background is written in this time. */
const writtenMs = 1_500;
const withinMs = 120_000;

export interface ActionsSize {
  settleMs: number;
  watchedMs: number;
  /** Enrollments and changes that come one at a time. */
  lone: number;
  bulk: number;
  rows: number;
}

interface Operation {
  what: string;
  times: number;
  /** The greatest number of actions that one may cost. */
  most?: number;
  work: () => Promise<unknown>;
}

interface Size {
  documents: number;
  bytes: number;
}

async function stored({ deps }: Bench): Promise<Map<string, Size>> {
  const database = deps.mongo.db(deps.config.MONGODB_DATABASE);
  const sizes = new Map<string, Size>();
  for (const { name } of await database.listCollections({}, { nameOnly: true }).toArray()) {
    const size: Size = { documents: 0, bytes: 0 };
    for await (const row of database.collection(name).find()) {
      size.documents += 1;
      size.bytes += BSON.calculateObjectSize(row);
    }
    sizes.set(name, size);
  }
  return sizes;
}

/** Waits until nothing is due and no workflow runs: an action of a running one may not be in its history yet. */
async function quiet(bench: Bench): Promise<void> {
  await settled(bench);
  await sleep(writtenMs);
  const connection = await Connection.connect({ address: bench.temporalAddress });
  const { workflow } = new Client({ connection });
  const isIdle = async () => (await workflow.count(runningWork)).count === 0;
  await until(isIdle, 200, AbortSignal.timeout(withinMs));
  await connection.close();
}

async function costOf(bench: Bench, { what, times, most, work }: Operation): Promise<Row> {
  await quiet(bench);
  const before = await stored(bench);
  const since = new Date();
  await work();
  await quiet(bench);
  const grown = [...(await stored(bench))].map(([name, { documents, bytes }]) => ({
    name,
    documents: (documents - (before.get(name)?.documents ?? 0)) / times,
    bytes: (bytes - (before.get(name)?.bytes ?? 0)) / times,
  }));
  const { actions, workflows } = await actionsSince(bench.temporalAddress, since);
  const sum = (part: 'documents' | 'bytes') => grown.reduce((total, row) => total + row[part], 0);
  const where = grown
    .filter(({ documents }) => documents > 0.05)
    .map((row) => `${row.name} ${round(row.documents, 1)}`);
  return {
    scenario: `actions of Temporal: ${what}`,
    ours: round(actions / times, 4),
    ...{ yardstick: null, ratio: null, unit: 'actions', goal: most === undefined ? 'none' : `<= ${most}` },
    ...(most !== undefined && { reached: actions / times <= most }),
    note: `workflows ${round(workflows / times, 4)}; documents ${round(sum('documents'), 1)} (${where.join(', ')}); bytes ${round(sum('bytes'), 0)}`,
  };
}

/** Answers each event with 500 that often, then with 200. */
async function failingReceiver(failures: number) {
  const seen = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const { eventId } = Object(await json(request));
    const times = seen.get(eventId) ?? 0;
    seen.set(eventId, times + 1);
    response.writeHead(times < failures ? 500 : 200).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    accepted: () => [...seen.values()].filter((times) => times > failures).length,
    close: () => server.close(),
  };
}

/** Runs `work` while one webhook receives the changes of points, until it has accepted `times` of them. */
async function withWebhook(
  merchant: BenchMerchant,
  { failures, times }: { failures: number; times: number },
  work: () => Promise<unknown>,
): Promise<void> {
  const receiver = await failingReceiver(failures);
  const retryPolicy = { maxAttempts: 5, backoffMs: 500 };
  const body = { url: receiver.url, events: ['points.changed'], retryPolicy };
  const made = JSON.parse(await merchant.call({ method: 'POST', path: '/merchants/me/webhooks', body }));
  await work();
  await until(async () => receiver.accepted() >= times, 100, AbortSignal.timeout(withinMs));
  await merchant.call({ method: 'DELETE', path: `/merchants/me/webhooks/${made.data.id}` });
  receiver.close();
}

export async function benchActions(bench: Bench, size: ActionsSize): Promise<Row[]> {
  const { settleMs, watchedMs, lone, bulk, rows } = size;
  // A few a second are answered, each after its push.
  const bulkPushes = bulk / 10;
  await settled(bench);
  await sleep(settleMs);
  const idle = await idleActions(bench, () => sleep(watchedMs));

  const [plain, phoned] = await Promise.all([aMerchant(bench), aMerchant(bench)]);
  const members = await addMembers(bench, { program: plain.program, count: 400 });
  const withPhones = await membersWithPhones(bench, {
    merchant: phoned,
    wallets: ['apple', 'google'],
    count: bulkCallers,
  });
  const imports = await importSides(bench);
  let next = 0;
  const change = async () => {
    next += 1;
    await plain.award(inTurn(members, next)._id);
  };
  const push = async () => {
    next += 1;
    return phoned.award(inTurn(withPhones, next)._id);
  };
  const pushed = async () => {
    const answer = await push();
    const { passUpdate } = JSON.parse(answer).data;
    if (passUpdate?.apple.devicesNotified !== 1 || !passUpdate.google.objectPatched)
      throw new Error(`The answer did not wait for both pushes: ${answer}`);
  };
  const enroll = async () => {
    next += 1;
    const person = { firstName: 'Ada', lastName: 'Lovelace', email: `enrolled-${next}@actions.example` };
    const body = { programId: plain.program._id, ...person };
    await plain.call({ method: 'POST', path: '/merchants/me/members', body });
  };
  const alone = async (work: () => Promise<unknown>) => {
    for (let times = 0; times < lone; times += 1) {
      await work();
      await settled(bench);
    }
  };
  const together = (total: number, work: () => Promise<unknown>) => () =>
    numbered({ callers: bulkCallers, total }, work);

  const operations: Operation[] = [
    { what: 'an enrollment', times: lone, work: () => alone(enroll) },
    { what: 'a lone change', times: lone, work: () => alone(change) },
    {
      what: 'a lone change with push to both wallets and one webhook',
      times: lone,
      most: 3,
      work: () => withWebhook(phoned, { failures: 0, times: lone }, () => alone(pushed)),
    },
    {
      what: 'the same, whose delivery fails twice',
      times: lone,
      most: 6,
      work: () => withWebhook(phoned, { failures: 2, times: lone }, () => alone(pushed)),
    },
    {
      what: 'a change with one webhook, in bulk',
      times: bulk,
      most: 0.03,
      work: () => withWebhook(plain, { failures: 0, times: bulk }, together(bulk, change)),
    },
    {
      what: 'the same with push to both wallets',
      times: bulkPushes,
      most: 0.03,
      work: () => withWebhook(phoned, { failures: 0, times: bulkPushes }, together(bulkPushes, push)),
    },
    { what: 'an imported row', times: rows, most: 0.02, work: () => imports.ours(rows) },
  ];
  const measured: Row[] = [idle];
  for (const operation of operations) {
    measured.push(await costOf(bench, operation));
    bench.soFar(measured);
  }
  await Promise.all([plain.close(), phoned.close(), imports.close()]);
  return measured;
}
