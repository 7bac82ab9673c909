// The schedules at Temporal follow those that the worker declares.
import { Client, Connection, type ScheduleOptions } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Wallets } from '../../../activities/wallets/wallets.client.js';
import { newId } from '../../../schemas/shared/ids.js';
import { taskQueues } from '../../../schemas/tables/workflows.js';
import { ensureSchedules, ensureSchedulesWhenUp } from '../../../worker/schedules.js';
import { until } from '../../rig/checks/until.js';
import { aWay } from '../../rig/standins/way.js';
import { forkEngines } from '../../rig/start/forkEngines.js';

const noWallets = {} as Wallets;
const bothWallets = { apple: {}, google: {} } as Wallets;
const early = new Date('2026-03-01T10:00:00Z');
const late = new Date('2026-03-02T10:00:00Z');

let connection: Connection;
let client: Client;

beforeAll(async () => {
  connection = await Connection.connect({ address: forkEngines().temporalAddress });
});
afterAll(() => connection.close());

// A namespace of its own for each test, since schedules are found by listing them.
beforeEach(async () => {
  const namespace = `schedules-${newId()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1d'),
  });
  client = new Client({ connection, namespace });
  await until(() =>
    client.schedule
      .list()
      [Symbol.asyncIterator]()
      .next()
      .then(
        () => true,
        () => false,
      ),
  );
});

const ids = async () => {
  const found: string[] = [];
  for await (const { scheduleId } of client.schedule.list()) found.push(scheduleId);
  return found.sort();
};
/** Listing is eventually consistent. */
const listed = (expected: string[]) => until(async () => (await ids()).join() === [...expected].sort().join());
const always = ['recount'];
const ofGoogle = ['reconcile-saves'];

const scheduleOf = (scheduleId: string, over: Partial<ScheduleOptions> = {}): ScheduleOptions => ({
  scheduleId,
  spec: { intervals: [{ every: '7m' }] },
  action: {
    type: 'startWorkflow',
    workflowType: 'formerName',
    workflowId: scheduleId,
    args: [{ shard: 99 }],
    taskQueue: taskQueues.workflows,
  },
  state: { note: `loyalty-pass, created by a worker of ${early.toISOString()}` },
  ...over,
});

it('a schedule of an earlier version gets the interval, the workflow and the input of this one', async () => {
  await client.schedule.create(scheduleOf('recount'));
  await ensureSchedules(client, { wallets: noWallets, startedAt: early });
  const { spec, action, policies } = await client.schedule.getHandle('recount').describe();
  expect(spec.intervals).toEqual([expect.objectContaining({ every: 24 * 3_600_000, offset: 3 * 3_600_000 })]);
  expect(action).toMatchObject({ workflowType: 'recount', args: [{}], workflowTaskTimeout: 3_000 });
  expect(policies.catchupWindow).toBe(12 * 3_600_000);
});

it('schedules that are no longer declared are deleted, and those of operators stay', async () => {
  await client.schedule.create(scheduleOf('nightly-recount', { state: { note: 'by an operator' } }));
  await client.schedule.create(scheduleOf('relay:7'));
  await ensureSchedules(client, { wallets: bothWallets, startedAt: early });
  await listed(['nightly-recount', ...always, ...ofGoogle]);
  await ensureSchedules(client, { wallets: noWallets, startedAt: late });
  await listed(['nightly-recount', ...always]);
});

it('a process that started earlier deletes nothing of a later one', async () => {
  await ensureSchedules(client, { wallets: bothWallets, startedAt: late });
  await listed([...always, ...ofGoogle]);
  await ensureSchedules(client, { wallets: noWallets, startedAt: early });
  await listed([...always, ...ofGoogle]);
});

it('an unchanged schedule is not written again', async () => {
  for (const startedAt of [early, late]) await ensureSchedules(client, { wallets: bothWallets, startedAt });
  for (const id of [...always, ...ofGoogle]) {
    expect((await client.schedule.getHandle(id).describe()).info.lastUpdatedAt, id).toBeUndefined();
  }
});

it('a schedule that an operator paused stays paused with its note when it changes', async () => {
  await client.schedule.create(scheduleOf('recount', { state: { paused: true, note: 'until Monday' } }));
  await ensureSchedules(client, { wallets: noWallets, startedAt: early });
  const { state, action } = await client.schedule.getHandle('recount').describe();
  expect(state).toMatchObject({ paused: true, note: 'until Monday' });
  expect(action.workflowType).toBe('recount');
});

it('what a changed or deleted schedule still runs is ended, since a relay of earlier versions never ends', async () => {
  const running = async () => {
    const found: string[] = [];
    for await (const { type } of client.workflow.list({ query: 'ExecutionStatus = "Running"' })) found.push(type);
    return found.sort().join();
  };
  for (const id of ['recount', 'relay:5']) {
    await client.schedule.create(scheduleOf(id));
    await client.schedule.getHandle(id).trigger('SKIP');
  }
  await until(async () => (await running()) === 'formerName,formerName');
  await ensureSchedules(client, { wallets: noWallets, startedAt: early });
  await until(async () => !(await running()).includes('formerName'));
});

describe('a worker that starts while Temporal is away', () => {
  const given = (namespace: string, address: string) => {
    const lazy = Connection.lazy({ address, connectTimeout: '300ms', interceptors: [] });
    const warned: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void warned.push(line) });
    const signal = new AbortController();
    const input = { wallets: noWallets, startedAt: early, log, signal: signal.signal };
    return { lazy, warned, abort: () => signal.abort(), start: new Client({ connection: lazy, namespace }), input };
  };

  it('creates its schedules as soon as Temporal answers', async () => {
    const way = await aWay(forkEngines().temporalAddress);
    way.shut();
    const { lazy, start, warned, input } = given(client.options.namespace, way.address);
    const created = ensureSchedulesWhenUp(start, input);
    await until(() => warned.length > 1);
    await way.open();
    await created;
    await listed(always);
    await lazy.close();
    way.shut();
  });

  it('stops trying when its signal is aborted', async () => {
    const way = await aWay(forkEngines().temporalAddress);
    way.shut();
    const { lazy, start, warned, abort, input } = given(client.options.namespace, way.address);
    const tried = ensureSchedulesWhenUp(start, input);
    await until(() => warned.length > 0);
    abort();
    await tried;
    await lazy.close();
  });

  it('gets the error when Temporal refuses', async () => {
    const { lazy, start, warned, input } = given('', forkEngines().temporalAddress);
    await expect(ensureSchedulesWhenUp(start, input)).rejects.toThrow();
    expect(warned).toEqual([]);
    await lazy.close();
  });
});
