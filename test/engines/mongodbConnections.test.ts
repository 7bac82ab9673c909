// The way to MongoDB: a process that starts while it is away says so, and works as soon as it is there, without a restart; and
// when connections are closed under it, nothing that was asked waits for ever.
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeMember } from '../../activities/changeMember.js';
import { decidePoints } from '../../activities/decisions.js';
import { isAway } from '../../activities/isAway.js';
import { type OpenStore, openStore } from '../../activities/store.js';
import { findPort } from '../../stack/ports.js';
import { until } from '../../stack/until.js';
import { aMerchant } from '../rig/merchant.js';
import { startService, type TestService } from '../rig/service.js';

let service: TestService;
let port: number;
let store: OpenStore;
let patient: OpenStore;
let way: Server | undefined;
const onTheWay = new Set<Socket>();
/** How often yet a connection is closed in place of passing on a command of that name. */
const cut = { name: '', times: 0 };
/** How late each command is passed on. */
let lateMs = 0;

beforeAll(async () => {
  service = await startService({ worker: false });
  port = await findPort('127.0.0.1');
  const { config } = service.store;
  const uri = new URL(config.MONGODB_URI);
  uri.host = `127.0.0.1:${port}`;
  const options = { config: { ...config, MONGODB_URI: uri.href }, log: pino({ level: 'silent' }) };
  store = openStore(options);
  patient = openStore({ ...options, patience: 'tool' });
});
afterAll(async () => {
  await store.close();
  await patient.close();
  way?.close();
  await service.stop();
});

/** From now on `port` leads to MongoDB. */
function openWay(): Promise<void> {
  const { hostname, port: to } = new URL(service.store.config.MONGODB_URI);
  const server = createServer((socket) => {
    onTheWay.add(socket);
    const onward = dial(Number(to), hostname);
    socket
      .on('error', () => onward.destroy())
      .on('close', () => onTheWay.delete(socket))
      .on('data', (bytes: Buffer) => {
        if (cut.times > 0 && bytes.includes(cut.name)) {
          cut.times -= 1;
          socket.destroy();
          onward.destroy();
        } else setTimeout(() => onward.write(bytes), lateMs);
      });
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

it('answers who has the patience for a MongoDB that takes its time, and tells others soon that it is away', async () => {
  lateMs = 1_000;
  try {
    const hasty = openStore({ config: patient.config, log: patient.log });
    const [waited, told] = await Promise.allSettled([
      patient.rows.members.countDocuments(),
      hasty.rows.members.countDocuments(),
    ]);
    await hasty.close();
    expect(waited).toMatchObject({ status: 'fulfilled' });
    expect(told.status === 'rejected' && isAway(told.reason)).toBe(true);
  } finally {
    lateMs = 0;
  }
});

it('leaves nothing unanswered that is asked in the moment in which its connection is closed', async () => {
  for (let round = 0; round < 10; round += 1) {
    await Promise.allSettled(Array.from({ length: 30 }, ask));
    for (const socket of onTheWay) socket.end();
    const asked: Promise<number>[] = [];
    // In each turn of the loop: a socket is gone for one of them before anybody hears that it is closed.
    for (let turn = 0; turn < 200; turn += 1) {
      await new Promise(setImmediate);
      asked.push(ask());
    }
    const answers = await Promise.allSettled(asked);
    for (const answer of answers) if (answer.status === 'rejected') expect(isAway(answer.reason)).toBe(true);
  }
});

it('makes a change whose connection is closed in the middle of it, and says so when that happens again', async () => {
  const merchant = await aMerchant(service);
  const { id: memberId } = await merchant.enroll({ initialPoints: 1 });
  const change = () =>
    changeMember(store, {
      merchantId: merchant.id,
      memberId,
      holderOf: () => null,
      confirmable: true,
      decide: decidePoints({ delta: 1 }, { type: 'user', id: 'tester' }),
    });
  Object.assign(cut, { name: 'bulkWrite', times: 1 });
  expect(await change()).toMatchObject({ kind: 'done' });
  Object.assign(cut, { times: 2 });
  await expect(change()).rejects.toSatisfy(isAway);
  expect(cut.times).toBe(0);
  expect(await service.store.rows.members.findOne({ _id: memberId })).toMatchObject({ balance: 2 });
});
