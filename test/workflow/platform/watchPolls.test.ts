// A worker knows whether it polls its queues, by what Temporal has seen of it.
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { heartbeat } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { NativeConnection, type Worker } from '@temporalio/worker';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Activities } from '../../../activities/index.js';
import { newId } from '../../../schemas/shared/ids.js';
import { taskQueues } from '../../../schemas/tables/workflows.js';
import { activitySlots, createWorkers } from '../../../worker/createWorkers.js';
import { type PollWatch, type WatchPolls, watchPolls } from '../../../worker/watchPolls.js';
import { until } from '../../rig/checks/until.js';
import { aGate } from '../../rig/standins/gate.js';
import { aWay, type Way } from '../../rig/standins/way.js';
import { forkEngines } from '../../rig/start/forkEngines.js';
import { forgetContexts, installRuntime } from '../../rig/start/temporalRuntime.js';

const quick = { lookMs: 100, lookAgainMs: 100, answerMs: 1_000, awayMs: 1_500 };
const queues = Object.keys(taskQueues).length;

let direct: Connection;
let way: Way;
let native: NativeConnection;
let client: Client;
let workers: Worker[];
let running: Promise<unknown>;
let hanging: (() => void)[];
let stopper: AbortController;
let lines: string[];
const watches: PollWatch[] = [];
const closers: (() => Promise<unknown>)[] = [];
// Of their own, so that no other worker takes the work.
let namespace: string;
let otherNamespace: string;

beforeAll(async () => {
  installRuntime();
  direct = await Connection.connect({ address: forkEngines().temporalAddress });
  [namespace, otherNamespace] = await Promise.all([aNamespace(), aNamespace()]);
});
afterAll(() => direct.close());

async function aNamespace(): Promise<string> {
  const name = `polls-${newId()}`;
  await direct.workflowService.registerNamespace({ namespace: name, workflowExecutionRetentionPeriod: msToTs('1d') });
  const known = new Client({ connection: direct, namespace: name });
  await until(() => known.workflow.count().then(() => true), { throwingIsNo: true });
  return name;
}

beforeEach(async () => {
  way = await aWay(forkEngines().temporalAddress);
  native = await NativeConnection.connect({ address: way.address });
  client = new Client({ connection: direct, namespace });
  hanging = [];
  const cleanUpBatches = async () => {
    const { open, opened } = aGate();
    hanging.push(open);
    const beats = setInterval(heartbeat, 500);
    await opened.finally(() => clearInterval(beats));
  };
  // The cast: the workflow that is started here calls no other activity.
  workers = await createWorkers({
    connection: native,
    namespace,
    workflowBundle: { codePath: inject('workflowBundle') },
    activities: { cleanUpBatches } as unknown as Activities,
  });
  running = Promise.all(workers.map((worker) => worker.run()));
  stopper = new AbortController();
  lines = [];
});

afterEach(async () => {
  stopper.abort();
  await Promise.all(watches.splice(0).map(({ ended }) => ended));
  for (const close of closers.splice(0).reverse()) await close();
  for (const open of hanging) open();
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  await running;
  await native.close();
  forgetContexts(native);
  way.shut();
});

function watch(given: Partial<WatchPolls> = {}): PollWatch {
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  const watched = { connection: native, namespace, workers, log, signal: stopper.signal };
  const polls = watchPolls({ ...watched, times: quick, ...given });
  watches.push(polls);
  return polls;
}

/** A Temporal that answers this question with a code of gRPC, and 0 with nothing: servers that do not know it do so. */
async function connectTo(code: number) {
  const head = { ':status': 200, 'content-type': 'application/grpc' };
  let asked = 0;
  const server = createServer().on('stream', (stream, { ':path': path }) => {
    const isIt = path?.endsWith('/DescribeTaskQueue');
    if (isIt) asked += 1;
    if (isIt && code !== 0) return stream.respond({ ...head, 'grpc-status': code }, { endStream: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }));
    stream.respond(head, { waitForTrailers: true });
    stream.end(Buffer.alloc(5));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closers.push(async () => server.close());
  const connection = await NativeConnection.connect({
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  closers.push(async () => {
    await connection.close();
    forgetContexts(connection);
  });
  return { connection, asked: () => asked };
}

const isWell = (polls: PollWatch) => until(() => polls.problems().length === 0, { seen: polls.problems });
const says = (polls: PollWatch, text: RegExp) =>
  until(() => polls.problems().some((problem) => text.test(problem)), { seen: polls.problems });

describe('a worker', () => {
  it.each(['shut', 'block'] as const)(
    'that polls all of its queues says so, says when it does not because the way to Temporal is %s, and comes back',
    async (what) => {
      const polls = watch();
      expect(polls.problems()).toEqual(['Temporal has not answered yet']);
      expect(polls.unpolled()).toBe(queues);
      await isWell(polls);
      expect(polls.unpolled()).toBe(0);
      way[what]();
      await says(polls, /^Temporal has not answered for \d+ s \(.+\)$/);
      await until(() => lines.length === 2);
      expect(polls.unpolled()).toBe(queues);
      for (const worker of workers) expect(worker.getState()).toBe('RUNNING');
      if (what === 'shut') await way.open();
      else way.unblock();
      await isWell(polls);
      expect(polls.unpolled()).toBe(0);
      expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
        'this worker polls all of its queues',
        'this worker does not poll all of its queues',
        'this worker polls all of its queues',
      ]);
    },
  );

  it('says which queues it does not poll although Temporal answers', async () => {
    const polls = watch({ namespace: otherNamespace });
    await says(polls, /^activities of the queue webhooks are not polled yet$/);
    expect(polls.problems()).toHaveLength(queues + 1);
    expect(polls.unpolled()).toBe(queues);
  });

  it.each([
    ['knows nothing of it', 0],
    ['does not permit it', 7],
    ['knows no such question', 12],
  ])('counts as ready, and says so once, when Temporal does not say who polls: it %s', async (_what, code) => {
    const { connection, asked } = await connectTo(code);
    const polls = watch({ connection });
    await isWell(polls);
    await until(() => asked() > 3);
    expect([polls.problems(), polls.unpolled()]).toEqual([[], 0]);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      'Temporal does not say who polls its queues: this worker counts as ready',
    ]);
  });

  it('needs to poll no queue for which it has no free slot', async () => {
    // In another namespace Temporal knows no poll.
    const polls = watch({ namespace: otherNamespace, times: { ...quick, unpolledMs: 1_000 } });
    await says(polls, /^activities of the queue batches are not polled yet$/);
    const options = { taskQueue: taskQueues.workflows, args: [{}] };
    for (let at = 0; at < activitySlots.batches; at += 1)
      await client.workflow.start('removeBatchRows', { ...options, workflowId: `remove-${at}` });
    await until(() => hanging.length === activitySlots.batches);
    // Both kinds of the queue of workflows, and every other queue but one.
    await until(() => polls.problems().length === queues, { seen: polls.problems });
    expect(polls.problems()).not.toContainEqual(expect.stringContaining('batches'));
    for (const open of hanging.splice(0)) open();
    await says(polls, /^activities of the queue batches are polled no more$/);
  });

  it('says which queue it polls no more', async () => {
    const polls = watch();
    await isWell(polls);
    workers.find(({ options }) => options.taskQueue === taskQueues.retries)?.shutdown();
    await says(polls, /^the worker of the queue retries is (STOPPING|DRAINING|DRAINED|STOPPED)$/);
    expect(polls.problems()).toHaveLength(1);
  });
});
