// The engines as the stack runs them. The tests use their own servers, because they kill some.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { activityInfo } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { retentionOf } from '../../../platform/temporal/prepareNamespace.js';
import { searchAttributeNames } from '../../../schemas/shared/searchAttributes.js';
import { cacheDirOf } from '../../../stack/engines/cache.js';
import { assertGivenMongodb, mongodbPlan, mongodbUriAt } from '../../../stack/engines/mongodb.js';
import { obtainMongodb } from '../../../stack/engines/mongodbSources.js';
import { engineEnv, prepareGivenTemporal } from '../../../stack/engines/startEngines.js';
import { temporalPlan } from '../../../stack/engines/temporal.js';
import { obtainTemporal } from '../../../stack/engines/temporalSources.js';
import type { NamedProcess } from '../../../stack/lock.js';
import { findPort } from '../../../stack/ports.js';
import { createSupervisor, type Supervisor } from '../../../stack/supervisor.js';
import { until } from '../../../stack/until.js';
import { quickest } from '../../rig/checks/stalls.js';
import { startEngines } from '../../rig/start/engines.js';
import { forgetContexts } from '../../rig/start/temporalRuntime.js';

const loopback = '127.0.0.1';
const search = { cacheDir: cacheDirOf(process.env), env: process.env };
const context = { task: { say: () => undefined }, signal: new AbortController().signal };

let folder: string;
let living: NamedProcess[];
let supervisor: Supervisor;

function aSupervisor(): Supervisor {
  const terminal = { line: () => undefined, warn: () => undefined };
  return createSupervisor({ logDir: join(folder, 'logs'), terminal, onChange: (now) => (living = now) });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-engines-'));
  supervisor = aSupervisor();
});
afterEach(async () => {
  await supervisor.stopAll([]);
  rmSync(folder, { recursive: true, force: true });
});

function killNow(name: string): void {
  const pid = living.find((one) => one.name === name)?.pid;
  if (pid === undefined) throw new Error(`${name} does not live.`);
  process.kill(pid, 'SIGKILL');
}

async function aMongodb(): Promise<string> {
  const engine = await obtainMongodb(search, context);
  const port = await findPort(loopback);
  await supervisor.start(mongodbPlan({ engine, port, dataDir: join(folder, 'data'), env: engineEnv(process.env) }));
  return mongodbUriAt(port);
}

async function aTemporal(dbFile?: string): Promise<string> {
  const engine = await obtainTemporal(search, context);
  const port = await findPort(loopback);
  const file = dbFile === undefined ? {} : { dbFile };
  await supervisor.start(temporalPlan({ engine, namespace: 'default', port, ...file, env: engineEnv(process.env) }));
  return `${loopback}:${port}`;
}

async function startOne(address: string, workflowId: string): Promise<void> {
  const connection = await Connection.connect({ address });
  const searchAttributes = Object.fromEntries(searchAttributeNames.map((name) => [name, [workflowId]]));
  const client = new Client({ connection });
  await client.workflow.start('anything', { taskQueue: 'nobody', workflowId, args: [], searchAttributes });
  await connection.close();
}

test('the engines of a test run answer, and end when they are stopped', async () => {
  const engines = await startEngines();
  const mongodb = await MongoClient.connect(engines.mongodbUri);
  await mongodb.db('a').command({ ping: 1 });
  await mongodb.close();
  await startOne(engines.temporalAddress, 'one');
  await engines.stop();
  await expect(Connection.connect({ address: engines.temporalAddress, connectTimeout: '1s' })).rejects.toThrow();
});

test('MongoDB supports transactions, and an aborted one leaves nothing', async () => {
  const client = await MongoClient.connect(await aMongodb());
  const rows = client.db('a').collection<{ _id: string }>('rows');
  await rows.insertOne({ _id: 'before' });
  const undone = client.withSession((session) =>
    session.withTransaction(async () => {
      await rows.insertOne({ _id: 'inside' }, { session });
      throw new Error('undone');
    }),
  );
  await expect(undone).rejects.toThrow('undone');
  expect(await rows.find().toArray()).toEqual([{ _id: 'before' }]);
  await client.close();
});

test('every write that MongoDB acknowledged is present after a kill -9, on the same port', async () => {
  const client = await MongoClient.connect(await aMongodb(), { serverSelectionTimeoutMS: 10_000 });
  const rows = client.db('a').collection<{ _id: number }>('rows');
  const acknowledged: number[] = [];
  for (let row = 0; row < 5_000; row += 1) {
    // The write that is under way when the server dies may be present or not; all others must be present.
    const kept = await rows.insertOne({ _id: row }, { timeoutMS: 2_000 }).catch(() => undefined);
    if (kept === undefined) break;
    acknowledged.push(row);
    if (row === 200) setTimeout(() => killNow('mongodb'), 0);
  }
  await expect.poll(() => rows.countDocuments().catch(() => 0)).toBeGreaterThan(0);
  const found = new Set((await rows.find().toArray()).map(({ _id }) => _id));
  expect(acknowledged.filter((row) => !found.has(row))).toEqual([]);
  await client.close();
});

test('Temporal keeps its workflows over a kill -9 and removes finished ones after days', async () => {
  const address = await aTemporal(join(folder, 'temporal.db'));
  for (let start = 0; start < 20; start += 1) await startOne(address, `kept-${start}`);
  killNow('temporal');
  const client = new Client({ connection: Connection.lazy({ address }) });
  const describeLast = () =>
    client.workflow
      .getHandle('kept-19')
      .describe()
      .then(({ status }) => status.name)
      .catch(() => 'unavailable');
  await expect.poll(describeLast).toBe('RUNNING');
  for (let start = 0; start < 20; start += 1) {
    expect((await client.workflow.getHandle(`kept-${start}`).describe()).status.name).toBe('RUNNING');
  }
  const connection = await Connection.connect({ address });
  expect(await retentionOf(connection, 'default')).toBeGreaterThanOrEqual(72 * 3_600);
  await connection.close();
  await client.connection.close();
});

/** Starts a server like a foreign one: without the service's search attributes and with its own retention. */
async function aForeignTemporal(dbFile?: string): Promise<string> {
  const engine = await obtainTemporal(search, context);
  const port = await findPort(loopback);
  const file = dbFile === undefined ? {} : { dbFile };
  const plan = temporalPlan({ engine, namespace: 'default', port, ...file, env: engineEnv(process.env) });
  const args = plan.args.filter((arg) => arg !== '--search-attribute' && !arg.endsWith('=Keyword'));
  expect(args.length).toBe(plan.args.length - 2 * searchAttributeNames.length);
  const address = `${loopback}:${port}`;
  const answers = async () => {
    const connection = await Connection.connect({ address, connectTimeout: '1s' });
    const found = await retentionOf(connection, 'default').finally(() => connection.close());
    return found > 0;
  };
  await supervisor.start({ ...plan, args, ready: (_running, signal) => until(answers, 50, signal) });
  return address;
}

test('a database with fewer search attributes gets the missing ones', async () => {
  const dbFile = join(folder, 'temporal.db');
  await aForeignTemporal(dbFile);
  await supervisor.stopAll([]);
  supervisor = aSupervisor();
  await startOne(await aTemporal(dbFile), 'searchable');
});

test('the dev server adds no second to a short retry', async () => {
  const address = await aTemporal();
  const native = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection: native,
    taskQueue: 'timed',
    workflowsPath: fileURLToPath(new URL('../../rig/standins/retriedSteps.ts', import.meta.url)),
    activities: {
      failOnce: async () => {
        if (activityInfo().attempt === 1) throw new Error('once');
      },
    },
  });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const waited: number[] = [];
  const retry = async () => {
    const since = performance.now();
    await client.workflow.execute('retriedSteps', { taskQueue: 'timed', workflowId: 'timed', args: [] });
    waited.push(performance.now() - since);
  };
  const took = await worker.runUntil(() => quickest(retry, 3_000));
  // Compares clock times only, because a delay continues while the machine stands still.
  expect(Math.min(...waited)).toBeGreaterThan(500);
  // With its default settings the server needs more than a second for each of the five.
  expect(took).toBeLessThan(3_000);
  await connection.close();
  await native.close();
  forgetContexts(native);
});

test('a MongoDB given by address must answer and support transactions', async () => {
  await assertGivenMongodb(await aMongodb());
  await expect(assertGivenMongodb('nonsense')).rejects.toThrow(/MONGODB_URI is no connection string/);
  await expect(assertGivenMongodb('mongodb://127.0.0.1:1/')).rejects.toThrow(/MONGODB_URI does not answer/);
});

test('a Temporal server given by address gets the missing attributes and keeps its own settings', async () => {
  const address = await aForeignTemporal();
  const remarks = await prepareGivenTemporal(address, 'default');
  expect(remarks).toEqual([expect.stringContaining('forgets finished workflows after 24 h')]);
  await startOne(address, 'searchable');
  await expect(prepareGivenTemporal(address, 'no-such-namespace')).rejects.toThrow(/Namespace no-such-namespace/);
  await expect(prepareGivenTemporal('127.0.0.1:1', 'default')).rejects.toThrow(/TEMPORAL_ADDRESS does not answer/);
});
