// Connections to MongoDB: a process that starts while MongoDB is unavailable reports it and works without a restart
// when MongoDB is back. When connections are closed, no request waits forever.
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { MongoClient, MongoServerError, ObjectId } from 'mongodb';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeMember } from '../../../activities/members/changeMember.writes.js';
import { pointsRule } from '../../../activities/points/adjustOrRedeem.rules.js';
import { failure } from '../../../api/http/answer.js';
import { type ClosableDeps, createDeps } from '../../../platform/createDeps.js';
import { isUnavailable } from '../../../platform/mongodb/isUnavailable.js';
import { findPort } from '../../../stack/ports.js';
import { timed } from '../../rig/checks/stalls.js';
import { until } from '../../rig/checks/until.js';
import { aMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let port: number;
let deps: ClosableDeps;
let patient: ClosableDeps;
let way: Server | undefined;
const onTheWay = new Set<Socket>();
/** The next `times` commands with this name close their connection instead of reaching MongoDB. */
const cut = { name: '', times: 0 };
/** The next `times` commands with this name never get their answer. */
const mute = { name: '', times: 0 };
/** The delay of each command. */
let lateMs = 0;

function busyFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

beforeAll(async () => {
  service = await startService({ worker: false });
  port = await findPort('127.0.0.1');
  const { config } = service.deps;
  const uri = new URL(config.MONGODB_URI);
  uri.host = `127.0.0.1:${port}`;
  const options = { config: { ...config, MONGODB_URI: uri.href }, log: pino({ level: 'silent' }) };
  deps = createDeps(options);
  patient = createDeps({ ...options, timeouts: 'tool' });
});
afterAll(async () => {
  await deps.close();
  await patient.close();
  way?.close();
  await service.stop();
});

/** Opens `port` as a proxy to MongoDB. */
function openWay(): Promise<void> {
  const { hostname, port: to } = new URL(service.deps.config.MONGODB_URI);
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
          return;
        }
        if (mute.times > 0 && bytes.includes(mute.name)) {
          mute.times -= 1;
          onward.unpipe(socket);
        }
        setTimeout(() => onward.write(bytes), lateMs);
      });
    onward.on('error', () => socket.destroy()).pipe(socket);
  });
  way = server;
  return new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
}

const ask = () => deps.collections.members.countDocuments();

it('requests fail while MongoDB is unavailable, and succeed when it is back', async () => {
  const [asked, again] = await Promise.allSettled([ask(), ask()]);
  for (const answer of [asked, again, ...(await Promise.allSettled([ask()]))])
    expect(answer.status === 'rejected' && isUnavailable(answer.reason)).toBe(true);
  await openWay();
  const answered = () =>
    ask().then(
      () => true,
      () => false,
    );
  await until(answered, { everyMs: 100, throwingIsNo: true });
  await expect(Promise.all(Array.from({ length: 20 }, ask))).resolves.toHaveLength(20);
});

it('callers with a long timeout get the answer of a slow MongoDB, and others are refused soon', async () => {
  lateMs = 1_000;
  try {
    const hasty = createDeps({ config: patient.config, log: patient.log });
    const [waited, refused] = await Promise.allSettled([
      patient.collections.members.countDocuments(),
      hasty.collections.members.countDocuments(),
    ]);
    await hasty.close();
    expect(waited).toMatchObject({ status: 'fulfilled' });
    expect(refused.status === 'rejected' && isUnavailable(refused.reason)).toBe(true);
  } finally {
    lateMs = 0;
  }
});

it('every request gets an answer when its connection is closed at the same moment', async () => {
  for (let round = 0; round < 10; round += 1) {
    await Promise.allSettled(Array.from({ length: 30 }, ask));
    for (const socket of onTheWay) socket.end();
    const asked: Promise<number>[] = [];
    // One request in each turn of the event loop: in one turn, the socket is closed but the close event is still
    // pending.
    for (let turn = 0; turn < 200; turn += 1) {
      await new Promise(setImmediate);
      asked.push(ask());
    }
    const answers = await Promise.allSettled(asked);
    for (const answer of answers) if (answer.status === 'rejected') expect(isUnavailable(answer.reason)).toBe(true);
  }
});

/** One change through the proxy; its event is left to the relay. */
const addPoint = (at: { merchantId: string; memberId: string }) =>
  changeMember(deps, {
    ...at,
    chooseLeaseOwner: () => null,
    temporalAvailable: true,
    decide: pointsRule({ delta: 1 }, { actor: { type: 'user', id: 'tester' }, now: new Date() }),
  });

describe('a query that reads for too long', () => {
  const rows = 20_000;
  const quick = () => new MongoClient(service.deps.config.MONGODB_URI, { socketTimeoutMS: 250 });
  const named = (mongo: MongoClient) => mongo.db(service.deps.config.MONGODB_DATABASE).collection('longRead');
  beforeAll(async () => {
    const row = (at: number) => ({ word: `word ${at % 7}`, at });
    for (let at = 0; at < rows; at += 1_000)
      await named(service.deps.mongo).insertMany(Array.from({ length: 1_000 }, (_, index) => row(at + index)));
  });

  it.each([
    ['a find', (mongo: MongoClient) => named(mongo).find({ word: /^word/ }).sort({ word: 1 }).limit(1).toArray()],
    ['a count', (mongo: MongoClient) => named(mongo).countDocuments({ word: /2$/, at: { $gt: 1 } })],
    ['a distinct', (mongo: MongoClient) => named(mongo).distinct('at', { word: /2$/ })],
  ])('is ended by the server: %s', async (_, ask) => {
    const mongo = quick();
    await mongo.connect();
    // When this process reads the server's answer late, the client reports its own timeout: the query is sent again.
    let closed = 0;
    mongo.on('connectionClosed', () => {
      closed += 1;
    });
    const refusal = await until(async () => {
      closed = 0;
      const answer: unknown = await ask(mongo).catch((error: unknown) => error);
      return answer instanceof MongoServerError && answer.code === 50 && answer;
    });
    // The connection is still good.
    expect(closed).toBe(0);
    expect(isUnavailable(refusal)).toBe(true);
    expect(failure(refusal)).toMatchObject({
      status: 503,
      body: { error: { code: 'UNAVAILABLE', message: expect.stringContaining('ask for less') } },
    });
    await until(async () => (await named(mongo).findOne({ _id: new ObjectId() })) === null, { throwingIsNo: true });
    await mongo.close();
  });

  it('has the time limit of API processes, and no other process has one', async () => {
    const sent: Record<string, unknown>[] = [];
    for (const timeouts of ['caller', 'worker'] as const) {
      const { config, log } = service.deps;
      const own = createDeps({ config, log, timeouts });
      Object.assign(own.mongo.options, { monitorCommands: true });
      own.mongo.on('commandStarted', ({ commandName, command }) => {
        if (commandName === 'find') sent.push({ timeouts, maxTimeMS: command.maxTimeMS });
      });
      await own.collections.members.findOne({ _id: 'nobody' });
      await own.close();
    }
    expect(sent).toEqual([
      { timeouts: 'caller', maxTimeMS: 2_000 },
      { timeouts: 'worker', maxTimeMS: undefined },
    ]);
  });
});

describe('a process that is busy while it opens a connection', () => {
  it('does not take its own delay for a server that does not answer', async () => {
    const { config, log } = service.deps;
    const own = createDeps({ config, log, timeouts: 'caller' });
    await own.mongo.db().command({ ping: 1 });
    const { connectTimeoutMS } = own.mongo.options;
    own.mongo.once('connectionCreated', () => process.nextTick(busyFor, connectTimeoutMS + 200));
    const answers = await Promise.all([1, 2, 3].map(() => own.collections.members.findOne({ _id: 'nobody' })));
    expect(answers).toEqual([null, null, null]);
    await own.close();
  });
});

describe('a statement that gets no answer while other statements do', () => {
  const mongo = () => service.deps.mongo;
  const limitTransactions = (seconds: number) =>
    mongo().db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds: seconds });
  // So that no transaction is ended by the server's own limit.
  beforeAll(() => limitTransactions(60));
  afterAll(() => limitTransactions(3));

  it('is aborted within 3 s and not sent again, and its transaction is rolled back', async () => {
    const merchant = await aMerchant(service);
    const { id: memberId } = await merchant.enroll({ initialPoints: 1 });
    Object.assign(mute, { name: 'bulkWrite', times: 2 });
    const { made: refusal, ms } = await timed(() =>
      addPoint({ merchantId: merchant.id, memberId }).catch((error: unknown) => error),
    );
    expect(isUnavailable(refusal)).toBe(true);
    expect(ms).toBeLessThan(3_000);
    expect(mute.times).toBe(1);
    mute.times = 0;
    // Waits until no transaction is open.
    const { collections } = service.deps;
    await until(
      async () =>
        (await collections.members.updateOne({ _id: memberId }, { $set: { tags: ['free'] } })).matchedCount === 1,
      { everyMs: 100 },
    );
    expect(await collections.members.findOne({ _id: memberId })).toMatchObject({ balance: 1 });
  });
});

it('a change whose connection is closed is repeated on a second connection; a second loss is reported', async () => {
  const merchant = await aMerchant(service);
  const { id: memberId } = await merchant.enroll({ initialPoints: 1 });
  const change = () => addPoint({ merchantId: merchant.id, memberId });
  Object.assign(cut, { name: 'bulkWrite', times: 1 });
  expect(await change()).toMatchObject({ kind: 'done' });
  Object.assign(cut, { times: 2 });
  await expect(change()).rejects.toSatisfy(isUnavailable);
  expect(cut.times).toBe(0);
  expect(await service.deps.collections.members.findOne({ _id: memberId })).toMatchObject({ balance: 2 });
});
