// A process that starts while MongoDB is away: it says so, and works as soon as MongoDB is there, without a restart.
import { createServer, connect as dial, type Server } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isAway } from '../../activities/isAway.js';
import { type OpenStore, openStore } from '../../activities/store.js';
import { findPort } from '../../stack/ports.js';
import { until } from '../../stack/until.js';
import { startService, type TestService } from '../rig/service.js';

let service: TestService;
let port: number;
let store: OpenStore;
let way: Server | undefined;

beforeAll(async () => {
  service = await startService({ worker: false });
  port = await findPort('127.0.0.1');
  const { config } = service.store;
  const uri = new URL(config.MONGODB_URI);
  uri.host = `127.0.0.1:${port}`;
  store = openStore({ config: { ...config, MONGODB_URI: uri.href }, log: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await store.close();
  way?.close();
  await service.stop();
});

/** From now on `port` leads to MongoDB. */
function openWay(): Promise<void> {
  const { hostname, port: to } = new URL(service.store.config.MONGODB_URI);
  const server = createServer((socket) => {
    const onward = dial(Number(to), hostname);
    socket.on('error', () => onward.destroy()).pipe(onward);
    onward.on('error', () => socket.destroy()).pipe(socket);
  });
  way = server;
  return new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
}

const ask = () => store.rows.members.countDocuments();

it('fails what is asked while MongoDB is away, and not what is asked once it is there', async () => {
  const [asked, again] = await Promise.allSettled([ask(), ask()]);
  for (const answer of [asked, again, ...(await Promise.allSettled([ask()]))])
    expect(answer.status === 'rejected' && isAway(answer.reason)).toBe(true);
  await openWay();
  const answered = () =>
    ask().then(
      () => true,
      () => false,
    );
  await until(answered, 100, AbortSignal.timeout(60_000));
  await expect(Promise.all(Array.from({ length: 20 }, ask))).resolves.toHaveLength(20);
});
