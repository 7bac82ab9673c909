// Makes each part of the service unavailable, lets it hang, or shifts its clock, with real processes. Work that needs
// the part is refused at once, other work continues, the service recovers without help, and in the end nothing is lost
// or doubled.
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../schemas/shared/ids.js';
import { type StallWatch, slownessMs, watchStalls } from '../rig/checks/stalls.js';
import { until } from '../rig/checks/until.js';
import { type RedisServer, startRedisServer } from '../rig/standins/redisServer.js';
import type { Operation } from './evidence.js';
import { type Answer, type Caller, isAnswer } from './rig/caller.js';
import type { Cluster, ProcessName } from './rig/cluster.js';
import { type CrashTest, startCrashTest } from './rig/crashTest.js';
import type { Known, Load } from './rig/load.js';
import type { World } from './rig/world.js';

const hourMs = 3_600_000;
const clockFile = join(tmpdir(), `loyalty-pass-clock-${newId()}`);
const movableClock = new URL('rig/movableClock.mjs', import.meta.url).href;

let test: CrashTest;
let redis: RedisServer;
let cluster: Cluster;
let world: World;
let caller: Caller;
let load: Load;
let withPhone: Known;
let withoutPhone: Known;
let stalls: StallWatch;

beforeAll(async () => {
  redis = await startRedisServer();
  writeFileSync(clockFile, '0');
  test = await startCrashTest({
    seed: 9,
    members: 2,
    phones: 1,
    // With few workflows for single changes, a burst leaves some events to the relay.
    env: { REDIS_URL: redis.url, CLOCK_FILE: clockFile, CHANGE_WORKFLOWS_PER_SECOND: '5' },
    preload: { api: movableClock, worker: movableClock },
  });
  ({ cluster, world, caller, load } = test);
  const [first, second] = load.known;
  if (!first || !second) throw new Error('Nobody was enrolled.');
  [withPhone, withoutPhone] = [first, second];
  await test.toRest();
});

beforeEach(() => {
  stalls = watchStalls();
});

afterAll(async () => {
  await test?.stop();
  await redis?.close().catch(() => undefined);
});

// A failed test must not affect the next one.
afterEach(() => {
  stalls.stop();
  for (const name of ['mongodb', 'temporal', 'api-1', 'worker-1'] as const) cluster.signal(name, 'SIGCONT');
  redis.speak();
});

interface Asked {
  status: number;
  code: string;
  passUpdate: unknown;
  tookMs: number;
}

interface Change {
  /** Sends the same request once more. */
  ask(): Promise<Asked>;
}

/** A change with its key. The test sends the requests one by one, and each is recorded for the checkers. */
function aChange(member: Known): Change {
  const key = `outage-${newId()}`;
  const path = `/merchants/me/members/${member.id}/points`;
  const operation: Operation = {
    ...{ kind: 'delta', memberId: member.id, keyedChangeId: `points:${member.id}:${key}`, outcome: 'indeterminate' },
    ...{ requests: 0, bodies: [], surprises: [] },
  };
  load.operations.push(operation);
  return {
    async ask() {
      const begunAt = performance.now();
      operation.requests += 1;
      const answer: Answer = await caller.once({ method: 'PATCH', path, key, body: { delta: 1 } }, 0);
      const tookMs = performance.now() - begunAt;
      if (!isAnswer(answer)) throw new Error(answer.lost);
      const { status, code, text } = answer;
      const done = status === 200;
      if (done) operation.outcome = 'acknowledged';
      if (done) operation.bodies.push(text);
      return { status, code, passUpdate: done ? JSON.parse(text).data.passUpdate : undefined, tookMs };
    },
  };
}

async function readyz(): Promise<{ status: number; body: { status: string; checks: Record<string, boolean> } }> {
  const answer = await fetch(`${cluster.env.PUBLIC_URL}/readyz`);
  return { status: answer.status, body: (await answer.json()) as { status: string; checks: Record<string, boolean> } };
}

const becomes = async (part: string, there: boolean): Promise<void> => {
  const asked = async () => (await readyz()).body.checks[part] === there;
  await until(asked, { everyMs: 50, throwingIsNo: true, seen: readyz });
};

const limitMs = (ms: number, quietMs: number): number => ms + slownessMs(quietMs) + stalls.stalledMs();
const slowestMs = (answers: readonly { tookMs: number }[]): number => Math.max(...answers.map(({ tookMs }) => tookMs));

const pidsOf = (...names: ProcessName[]) => names.map((name) => cluster.pidOf(name));
const delta = (member: Known): Promise<void> => load.keyedChange('delta', member);

describe('Temporal', () => {
  it('that is unavailable fails no change: 200 without a passUpdate, and the effects follow when Temporal is back', async () => {
    const services = pidsOf('api-1', 'api-2', 'worker-1', 'worker-2');
    await cluster.down('temporal');
    await becomes('temporal', false);
    expect((await readyz()).body.status).toBe('degraded');
    for (const member of [withPhone, withoutPhone, withPhone])
      expect(await aChange(member).ask()).toMatchObject({ status: 200, passUpdate: null });
    await load.enroll('crash-tiers');
    expect(load.operations.at(-1)).toMatchObject({ outcome: 'acknowledged', requests: 1 });
    await cluster.up('temporal');
    await becomes('temporal', true);
    await test.toRest();
    expect(pidsOf('api-1', 'api-2', 'worker-1', 'worker-2')).toEqual(services);
  });

  it('that hangs fails no change: the answer waits no longer than for a slow wallet', async () => {
    const { tookMs: quietMs } = await aChange(withoutPhone).ask();
    cluster.signal('temporal', 'SIGSTOP');
    const first = await aChange(withPhone).ask();
    expect(first).toMatchObject({ status: 200, passUpdate: null });
    expect(first.tookMs).toBeLessThan(limitMs(5_000, quietMs));
    await becomes('temporal', false);
    for (const member of [withPhone, withoutPhone])
      expect(await aChange(member).ask()).toMatchObject({ status: 200, passUpdate: null });
    cluster.signal('temporal', 'SIGCONT');
    await test.toRest();
  });
});

it('no change fails while there is no worker, and the effects follow when a worker is back', async () => {
  await Promise.all([cluster.down('worker-1'), cluster.down('worker-2')]);
  for (const member of [withPhone, withoutPhone]) expect(await aChange(member).ask()).toMatchObject({ status: 200 });
  expect(await aChange(withPhone).ask()).toMatchObject({ status: 200, passUpdate: null });
  await cluster.up('worker-1');
  await test.toRest();
  await cluster.up('worker-2');
});

describe('MongoDB', () => {
  const get = async (path: string) => {
    const begunAt = performance.now();
    const answer = await fetch(`${cluster.apis['api-1']}${path}`, { headers: { 'X-API-Key': world.apiKey } });
    const { error } = (await answer.json()) as { error?: { code: string } };
    return { status: answer.status, code: error?.code, tookMs: performance.now() - begunAt };
  };
  const refused = { status: 503, code: 'UNAVAILABLE' };

  /**
   * Requests during the outage are refused within 3 s. After the outage the same keys are answered by the same
   * processes.
   */
  async function survives(outage: (quietMs: number) => Promise<unknown>, end: () => Promise<unknown>): Promise<void> {
    const services = pidsOf('api-1', 'api-2', 'worker-1', 'worker-2');
    const both = () => [withPhone, withoutPhone].map(aChange);
    const asked = (changes: Change[]) =>
      Promise.all([
        ...changes.map((change) => change.ask()),
        get(`/merchants/me/members/${withPhone.id}`),
        get('/merchants/me/members?q=member'),
        get(`/merchants/me/members/${withPhone.id}/transactions`),
        get('/merchants/me/programs'),
      ]);
    const quietMs = slowestMs(await asked(both()));
    await outage(quietMs);
    const changes = both();
    for (const answers of [await asked(changes), await asked(changes)])
      for (const answer of answers) {
        expect(answer).toMatchObject(refused);
        expect(answer.tookMs).toBeLessThan(limitMs(3_000, quietMs));
      }
    const { status, body } = await readyz();
    expect([status, body.status]).toEqual([503, 'down']);
    await end();
    await becomes('mongodb', true);
    for (const change of changes) {
      const inUse = async () => (await change.ask()).status === 200;
      await until(inUse, { everyMs: 500, throwingIsNo: true });
    }
    await test.toRest();
    expect(pidsOf('api-1', 'api-2', 'worker-1', 'worker-2')).toEqual(services);
  }

  it('that is unavailable causes a 503 within 3 s, and the service recovers without a restart', async () => {
    await survives(
      () => cluster.down('mongodb'),
      () => cluster.up('mongodb'),
    );
  });

  it('that hangs causes a 503 within 3 s, also for requests under way', async () => {
    await survives(
      async (quietMs) => {
        const underWay = Array.from({ length: 24 }, () => aChange(withoutPhone).ask());
        await Promise.race(underWay);
        cluster.signal('mongodb', 'SIGSTOP');
        const stoppedAt = performance.now();
        for (const { status } of await Promise.all(underWay)) expect([200, 503]).toContain(status);
        expect(performance.now() - stoppedAt).toBeLessThan(limitMs(3_000, quietMs));
      },
      async () => cluster.signal('mongodb', 'SIGCONT'),
    );
  });
});

it('Redis that is unavailable or hangs fails no request: limits are counted in memory, with a warning', async () => {
  const apiLog = () => readFileSync(join(cluster.folder, 'logs', 'api-1.log'), 'utf8');
  await becomes('redis', true);
  const { tookMs: quietMs } = await aChange(withoutPhone).ask();
  redis.hush();
  const hung = await aChange(withoutPhone).ask();
  expect(hung.status).toBe(200);
  expect(hung.tookMs).toBeLessThan(limitMs(3_000, quietMs));
  redis.speak();
  const { port } = redis;
  await redis.close();
  await becomes('redis', false);
  expect((await readyz()).body.status).toBe('degraded');
  expect((await aChange(withoutPhone).ask()).status).toBe(200);
  const warned = async () => apiLog().includes('Redis is unavailable; limits are counted in memory');
  await until(warned, { everyMs: 50, throwingIsNo: true });
  redis = await startRedisServer({ port });
  await becomes('redis', true);
  expect((await aChange(withoutPhone).ask()).status).toBe(200);
  await test.toRest();
});

it('a clock that is moved by an hour forward and back under running services loses and doubles nothing', async () => {
  for (const aheadMs of [hourMs, -hourMs, 0]) {
    writeFileSync(clockFile, String(aheadMs));
    await sleep(200);
    await load.enroll('crash-points');
    await Promise.all([withPhone, withoutPhone, withoutPhone].map(delta));
    // The times of rows follow the database's clock again from its next heartbeat on.
    await until(async () => {
      await delta(withoutPhone);
      const newest = await cluster.deps.collections.ledger.findOne({
        _id: load.operations.at(-1)?.keyedChangeId ?? '',
      });
      return Math.abs((newest?.createdAt.getTime() ?? 0) - Date.now()) < 60_000;
    });
    await test.toRest();
  }
});
