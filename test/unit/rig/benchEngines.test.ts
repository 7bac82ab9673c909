// What the engines of the bench share: the delivery, and the processor time of a side with all of its processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { signService } from '../../../schemas/webhooks/signature.rules.js';
import { type Attempt, createDelivery } from '../../bench/engines/delivery.js';
import { eventMaker } from '../../bench/engines/engine.js';
import { sideBySide } from '../../bench/load.js';
import { treeSecondsOf } from '../../bench/processes.js';
import { createProcessList } from '../../bench/processList.js';
import { processorRow, reasonOf } from '../../bench/row.js';
import { stores } from '../../bench/stores.js';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function aReceiver(statusCode: number) {
  const received: { headers: NodeJS.Dict<string | string[]>; body: Buffer }[] = [];
  const server = createServer(async (request, answer) => {
    received.push({ headers: request.headers, body: Buffer.concat(await request.toArray()) });
    answer.writeHead(statusCode).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

const event = { eventId: 'event-1', body: '{"a":1}' };

test('a delivery is signed as the service signs, and its attempt is logged', async () => {
  const { received, url } = await aReceiver(204);
  const logged: Attempt[] = [];
  await createDelivery(url, async (attempt) => logged.push(attempt))(event);
  expect(logged).toMatchObject([{ eventId: 'event-1', url, success: true, statusCode: 204 }]);
  const [one] = received;
  if (!one) throw new Error('Nothing was received.');
  const secret = `whsec_${Buffer.alloc(32, 'x').toString('base64')}`;
  expect(one.headers['x-service-webhook-signature']).toBe(
    signService(secret, String(one.headers['x-service-webhook-timestamp']), one.body),
  );
});

test('a delivery that fails is logged, and throws so that the engine tries again', async () => {
  const refusing = await aReceiver(503);
  const logged: Attempt[] = [];
  const log = async (attempt: Attempt) => logged.push(attempt);
  await expect(createDelivery(refusing.url, log)(event)).rejects.toThrow('503');
  await expect(createDelivery('http://127.0.0.1:1/hook', log)(event)).rejects.toThrow('nothing');
  expect(logged.map(({ success, statusCode }) => ({ success, statusCode }))).toEqual([
    { success: false, statusCode: 503 },
    { success: false, statusCode: null },
  ]);
});

test('a server that is not installed is the reason to leave out its engines', async () => {
  const { PATH } = process.env;
  ends.push(() => {
    process.env.PATH = PATH;
  });
  process.env.PATH = '';
  const processes = createProcessList();
  const reason = await stores.redis(processes).catch(reasonOf);
  expect(reason).toBe('no redis-server is installed (Debian: apt-get install redis-server)');
  await processes.end();
});

test('an event has all fields of the envelope of the service, and those of its change', () => {
  const envelope = JSON.stringify({ specversion: '1.0', data: { field: 'points', memberCode: 'code' } });
  const { eventId, body } = eventMaker({ envelope })('member-1', { points: 7, version: 3 });
  expect(JSON.parse(body)).toMatchObject({
    specversion: '1.0',
    id: eventId,
    eventId,
    data: { field: 'points', memberCode: 'code', memberId: 'member-1', previous: 6, current: 7, memberVersion: 3 },
  });
});

test('the processor time of a side includes the processes that its processes started, also those that ended', async () => {
  const work = 'while (process.cpuUsage().user < 400_000);';
  const parent = spawn(
    process.execPath,
    [
      '-e',
      `require('child_process').spawnSync(process.execPath, ['-e', '${work}']);
       require('child_process').spawn(process.execPath, ['-e', '${work} setInterval(() => {}, 1000); console.log(1)'],
         { stdio: ['ignore', 'inherit', 'ignore'] });`,
    ],
    { stdio: ['ignore', 'pipe', 'ignore'], detached: true },
  );
  ends.push(() => process.kill(-(parent.pid ?? Number.NaN), 'SIGKILL'));
  await once(parent.stdout, 'data');
  expect(treeSecondsOf([parent.pid ?? 0])).toBeGreaterThan(0.7);
  expect(treeSecondsOf([])).toBe(0);
});

test('each side is charged the processor time of its own rounds', async () => {
  let seconds = 0;
  const clock = () => seconds;
  const once = (used: number, operations: number) => async () => {
    seconds += used;
    return { rate: 1, operations, latency: { p50: 1, p95: 1, p99: 1 } };
  };
  const compared = await sideBySide({
    pids: {},
    rounds: 3,
    ours: once(2, 1_000),
    yardstick: once(3, 500),
    clocks: { ours: clock, yardstick: clock },
  });
  expect(compared.seconds).toEqual({ ours: 2, yardstick: 6 });
  const facts = { scenario: 'time', unit: 's', least: 3 };
  expect(processorRow(compared.seconds, facts)).toMatchObject({ ratio: 3, goal: '>= 3', reached: true });
  expect(processorRow({ ours: 2, yardstick: 5.9 }, facts)).toMatchObject({ reached: false });
});
