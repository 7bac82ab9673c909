// The first start of `npm start`: the demo is a café with customers and 60 days of history, made once, also when its
// maker is killed; the live desk has both phones on.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { type Db, type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toRevive } from '../../../activities/batches/reviveBatches.activity.js';
import type { BatchRow } from '../../../schemas/batches/batches.rows.js';
import { runCommand } from '../../../stack/commands/command.js';
import { merchants } from '../../../stack/commands/merchants.js';
import { historyId } from '../../../stack/demo.js';
import { until } from '../../rig/checks/until.js';
import { hasBrowser, keepScreenshot, screens, startBrowser } from '../../rig/standins/browser.js';
import { newStackDir, type RunningStack, startStack } from '../../rig/start/runningStack.js';

const { stackDir, remove } = newStackDir();
let stack: RunningStack;
let mongo: MongoClient;
let db: Db;

async function start(): Promise<void> {
  stack = await startStack(stackDir, {}, []);
  mongo = new MongoClient(stack.file().mongodbUri);
  db = mongo.db('loyalty');
}

async function stop(): Promise<void> {
  await mongo.close();
  await stack.stop();
}

const isMade = async () =>
  (await db.collection<Document & { _id: string }>('counters').findOne({ _id: historyId }))?.made === 1;
const sizes = async () =>
  Object.fromEntries(
    await Promise.all(
      ['members', 'ledger', 'events', 'deliveries', 'timeline', 'batches', 'subscriptions'].map(
        async (name) => [name, await db.collection(name).countDocuments()] as const,
      ),
    ),
  );

async function call(path: string) {
  const { baseUrl, demo } = stack.file();
  const answer = await fetch(`${baseUrl}/merchants/me${path}`, {
    headers: { Authorization: `Bearer ${demo.consoleToken}` },
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: Document }).data;
}

/** The kinds of the batches that a worker would take for lost before their end: workflows work by the clock of today. */
const takenForLost = new Set<string>();
async function noteLost(): Promise<void> {
  const batches = db.collection<BatchRow>('batches');
  for (const where of toRevive({ now: () => new Date() }))
    for (const { kind, done, counts } of await batches.find(where).toArray())
      if (done === 0 || done < counts.total) takenForLost.add(kind);
}

/** Starts the job of the night: a maker that is killed between a new member and its totals leaves them to it. */
async function recount(): Promise<void> {
  const connection = await Connection.connect({ address: stack.file().temporalAddress });
  await new Client({ connection }).schedule.getHandle('recount').trigger();
  await connection.close();
}

beforeAll(async () => {
  await start();
  // The receiver of somebody who tries the tour at once.
  const { baseUrl, demo } = stack.file();
  const tour = await fetch(`${baseUrl}/merchants/me/webhooks`, {
    method: 'POST',
    headers: { 'X-API-Key': demo.apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: 'http://127.0.0.1:4000/', events: ['*'], name: 'Tour' }),
  });
  expect(tour.status).toBe(201);
  // The maker is killed in the middle, and the supervisor starts it again.
  const noting = setInterval(noteLost, 100);
  await until(async () => (await db.collection('ledger').countDocuments()) > 500);
  expect(await isMade()).toBe(false);
  const { children } = JSON.parse(readFileSync(join(stackDir, 'supervisor.lock'), 'utf8'));
  const maker = children.find(({ name }: { name: string }) => name === 'cafe');
  process.kill(maker.pid, 'SIGKILL');
  // It takes 12 s of the processor's time, and as much of the engines': minutes where many share it.
  await until(isMade, { withinMs: 300_000 });
  clearInterval(noting);
  await recount();
});
afterAll(async () => {
  await stop();
  remove();
});

describe('the demo', () => {
  it('has customers whose balances are the sum of their ledger, and the right total of them after a recount', async () => {
    const total = await db.collection('members').countDocuments({ merchantId: 'demo' });
    expect(total).toBeGreaterThan(280);
    await until(async () => (await call('/members?pageSize=1')).total === total);
    const lines: string[] = [];
    const code = await runCommand(merchants, {
      argv: ['audit', 'demo'],
      env: { ...process.env, STACK_DIR: stackDir, MONGODB_URI: '', TEMPORAL_ADDRESS: '' },
      out: (text) => lines.push(text),
      err: (text) => lines.push(text),
    });
    expect([code, lines.join('')]).toEqual([0, `${total} members, and the ledger of each adds up to what it has\n`]);
  });

  it('has statistics that agree with the ledger', async () => {
    // Events that the killed maker had leased are published by the relay.
    await until(async () => (await db.collection('events').countDocuments({ state: 'new' })) === 0);
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const { totals, days } = await call(`/stats?from=${day(61)}&to=${day(0)}`);
    const ledger = await db.collection('ledger').find({ merchantId: 'demo' }).toArray();
    const sum = ledger.reduce((all, { delta }) => all + delta, 0);
    expect(totals.members.enrolled).toBe(await db.collection('members').countDocuments());
    expect(totals.redeems).toBe(ledger.filter(({ type }) => type === 'redeem').length);
    expect(totals.redeems).toBeGreaterThan(30);
    const { given, imported, spent } = totals.points;
    expect(given + imported - spent).toBe(sum);
    const soldOn = ({ memberId, occurredAt, createdAt }: Document) =>
      `${memberId} ${(occurredAt ?? createdAt).toISOString().slice(0, 10)}`;
    const visits = new Set(ledger.filter(({ type }) => type !== 'initial').map(soldOn));
    expect(totals.visits.all).toBe(visits.size);
    expect(totals.visits.returning).toBeGreaterThan(totals.visits.all / 2);
    for (const audience of ['returning', 'rewarded', 'nearlyFull', 'away'])
      expect((await call(`/members?audience=${audience}`)).total, audience).toBeGreaterThan(3);
    const busy = days.filter(({ visits: { all } }: Document) => all > 0);
    expect(busy.length).toBeGreaterThan(50);
  });

  it('has an import with failed rows, a campaign, and a receiver that had a bad hour', async () => {
    const { items } = await call('/batches');
    const kinds = items.map(({ kind, phase }: Document) => `${kind} ${phase}`);
    expect(kinds.toSorted()).toEqual(['campaign completed', 'members.import completed', 'members.import completed']);
    const small = items.find(({ counts }: Document) => counts.failed > 0);
    expect(small.counts).toMatchObject({ total: 10, created: 5, deduped: 1, failed: 4 });
    const { baseUrl, demo } = stack.file();
    const headers = { Authorization: `Bearer ${demo.consoleToken}` };
    const errors = await (await fetch(`${baseUrl}/merchants/me/batches/${small.id}/errors.csv`, { headers })).text();
    expect(errors.trim().split('\n')).toHaveLength(1 + 4);
    // What the receiver did not answer in time, and what the killed maker had begun, is delivered from the queue.
    const open = { state: { $nin: ['succeeded', 'exhausted'] } };
    await until(async () => (await db.collection('deliveries').countDocuments(open)) === 0, {
      seen: () => db.collection('deliveries').find(open).toArray(),
    });
    const deliveries = await db.collection('deliveries').find({}).toArray();
    const count = (state: string) => deliveries.filter((one) => one.state === state).length;
    expect(count('succeeded')).toBeGreaterThan(20);
    expect(count('exhausted')).toBeGreaterThan(0);
    const { items: webhooks } = await call('/webhooks');
    const orders = webhooks.find(({ name }: Document) => name === 'Order system');
    expect(orders).toMatchObject({ health: { state: 'ok' } });
    // The history is no news for the receiver of the tour.
    expect(new Set(deliveries.map(({ subscriptionId }) => subscriptionId))).toEqual(new Set([orders.id]));
  });

  it('was made by its maker alone: no worker could take an unfinished batch for lost', () => {
    expect([...takenForLost]).toEqual([]);
  });

  it('has sent no mail', () => {
    const folder = join(stackDir, 'mail');
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  });

  it('is made once: a second start adds nothing', async () => {
    await until(async () => (await db.collection('events').countDocuments({ state: 'new' })) === 0);
    const before = await sizes();
    await stop();
    await start();
    await sleep(4_000);
    expect(await sizes()).toEqual(before);
  });

  it.runIf(hasBrowser)(
    'has both phones on with a card when the live desk is opened, and the API answers all the time',
    async () => {
      const { publicUrl, demo, pids } = stack.file();
      const browser = await startBrowser();
      const answers: number[] = [];
      let over = false;
      const asking = (async () => {
        while (!over) {
          answers.push((await fetch(`${publicUrl}/healthz`)).status);
          await sleep(20);
        }
      })();
      try {
        const page = await browser.open('about:blank', screens.desktop);
        await page.context().addCookies([{ name: 'session', value: demo.consoleToken, url: publicUrl }]);
        await page.goto(`${publicUrl}/console/live-desk`);
        for (const phone of ['iPhone', 'Android'])
          await page.getByRole('figure').filter({ hasText: phone }).locator('.pass').waitFor();
        await keepScreenshot(page, 'cafe-live-desk');
        over = true;
        await asking;
        expect(new Set(answers)).toEqual(new Set([200]));
        expect(stack.file().pids).toEqual(pids);
      } finally {
        over = true;
        await browser.close();
      }
    },
  );
});
