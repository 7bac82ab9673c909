// Stopping and coming back, on real processes under load: a process that is asked to end finishes or hands back what it has,
// so that a rolling restart costs nobody anything; the work of one that was killed goes on within seconds.
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../schemas/ids.js';
import { until } from '../../stack/until.js';
import { hang, ok, slow } from '../rig/tempers.js';
import { check } from './checkers.js';
import type { Operation } from './evidence.js';
import { aListener, type Listener } from './rig/audience.js';
import { type Caller, createCaller } from './rig/caller.js';
import { apiNames, type Cluster, type ProcessName, startCluster, workerNames } from './rig/cluster.js';
import { drain } from './rig/drain.js';
import { gather } from './rig/gather.js';
import { createLoad, type Known, type Load } from './rig/load.js';
import { createRandom } from './rig/random.js';
import { populate, type World } from './rig/world.js';

let listener: Listener;
let cluster: Cluster;
let world: World;
let caller: Caller;
let load: Load;

beforeAll(async () => {
  listener = await aListener({ name: 'good', temper: ok(), steady: true });
  cluster = await startCluster({ env: { GESTURE_WORKFLOWS_PER_SECOND: '2' } });
  world = await populate(cluster, { listeners: [listener] });
  caller = createCaller(world);
  load = createLoad({ world, caller, random: createRandom(10), tricks: false });
  for (let index = 0; index < 6; index += 1) await load.enroll('crash-points');
});

afterAll(async () => {
  await caller?.close();
  await cluster?.stop();
  await listener?.stop();
});

async function toRest() {
  await cluster.allUp();
  listener.behave(ok());
  expect(await drain(world, { withinMs: 120_000 })).not.toBeNull();
  const evidence = await gather(world, load.operations);
  expect(check(evidence)).toEqual([]);
  return evidence;
}

/** Asks it to end, as an operator does, and waits for its next life. */
async function restart(name: ProcessName): Promise<{ ending: string; tookMs: number }> {
  const before = cluster.endings.length;
  const pid = cluster.pidOf(name);
  const askedAt = Date.now();
  cluster.signal(name, 'SIGTERM');
  await until(async () => cluster.endings.length > before, 10, AbortSignal.timeout(60_000));
  const last = cluster.endings[before];
  await until(async () => cluster.pidOf(name) !== pid, 10, AbortSignal.timeout(60_000));
  await cluster.allUp();
  return { ending: last?.ending ?? '', tookMs: (last?.at ?? 0) - askedAt };
}

interface Clients {
  answered: () => number;
  /** What came instead of a 200. */
  failures: string[];
  stop(): Promise<void>;
}

/**
 * Clients on connections that they keep, without a second try. As a load balancer does, they go to the other API when a
 * connection is refused, since then nothing was sent.
 */
function steadyClients(count: number): Clients {
  const agents = apiNames.map(() => new Agent({ connections: count, keepAliveTimeout: 60_000 }));
  const failures: string[] = [];
  let answered = 0;
  let stopped = false;

  async function ask(member: Known, turn: number): Promise<void> {
    const key = `stop-${newId()}`;
    const operation: Operation = {
      ...{ kind: 'delta', memberId: member.id, gestureId: `points:${member.id}:${key}`, outcome: 'indeterminate' },
      ...{ requests: 1, bodies: [], surprises: [] },
    };
    load.operations.push(operation);
    for (const api of [turn, turn + 1].map((each) => each % apiNames.length)) {
      const name = apiNames[api] ?? 'api-1';
      try {
        const answer = await fetch(`${cluster.apis[name]}/merchants/me/members/${member.id}/points`, {
          method: 'PATCH',
          headers: { 'X-API-Key': world.apiKey, 'Idempotency-Key': key, 'Content-Type': 'application/json' },
          body: '{"delta":1}',
          ...(agents[api] && { dispatcher: agents[api] }),
        });
        const text = await answer.text();
        if (answer.status !== 200) failures.push(`${answer.status} ${text}`);
        else operation.outcome = 'acknowledged';
        operation.bodies.push(text);
        answered += 1;
        return;
      } catch (error) {
        const cause = error instanceof Error ? error.cause : undefined;
        if (!(cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED')) {
          failures.push(`${name}: ${String(cause ?? error)}`);
          return;
        }
      }
    }
    failures.push('both refused');
  }

  const client = async (index: number): Promise<void> => {
    for (let turn = index; !stopped; turn += 1) {
      const member = load.known[index % load.known.length];
      if (member) await ask(member, turn);
      await sleep(150);
    }
  };
  const clients = Array.from({ length: count }, (_, index) => client(index));
  return {
    answered: () => answered,
    failures,
    async stop() {
      stopped = true;
      await Promise.all(clients);
      await Promise.all(agents.map((agent) => agent.destroy()));
    },
  };
}

it('a rolling restart of every API and every worker under load costs no failed request and no attempt unlogged', async () => {
  listener.behave(slow(50));
  const clients = steadyClients(4);
  try {
    for (const name of [...apiNames, ...workerNames]) {
      const before = clients.answered();
      await until(async () => clients.answered() > before + 10, 20, AbortSignal.timeout(60_000));
      const { ending, tookMs } = await restart(name);
      console.log(`  ${name} ended after ${tookMs} ms`);
      expect([name, ending]).toEqual([name, 'ended with code 0']);
    }
  } finally {
    await clients.stop();
  }
  expect(clients.failures).toEqual([]);
  // A receiver may be slower than its time limit; but whatever was sent was logged before the sender ended.
  const { receipts } = await toRest();
  const copies = new Map<string, number>();
  for (const { eventId } of receipts) copies.set(eventId, (copies.get(eventId) ?? 0) + 1);
  const deliveries = await cluster.store.rows.deliveries
    .find({}, { projection: { eventId: 1, attempts: 1 } })
    .toArray();
  expect(deliveries.filter(({ eventId, attempts }) => (copies.get(eventId) ?? 0) > attempts)).toEqual([]);
}, 180_000);

it('a worker that is asked to end while receivers hang hands its work to the other one', async () => {
  listener.behave(hang());
  const before = listener.arrivals().length;
  await Promise.all(load.known.map((member) => load.gesture('delta', member)));
  await until(async () => listener.arrivals().length > before + 3, 20, AbortSignal.timeout(60_000));
  const { ending, tookMs } = await restart('worker-1');
  console.log(`  worker-1 ended after ${tookMs} ms, with receivers that hang`);
  expect(ending).toBe('ended with code 0');
  await toRest();
});

it('the work of the only worker goes on in its next life', async () => {
  await cluster.down('worker-2');
  listener.behave(hang());
  const before = listener.arrivals().length;
  await Promise.all(load.known.map((member) => load.gesture('delta', member)));
  await until(async () => listener.arrivals().length > before + 3, 20, AbortSignal.timeout(60_000));
  listener.behave(ok());
  const killedAt = Date.now();
  cluster.signal('worker-1', 'SIGKILL');
  const resumed = () => listener.arrivals().find(({ at }) => at > killedAt)?.at;
  await until(async () => resumed() !== undefined, 20, AbortSignal.timeout(60_000));
  await toRest();
  const { tookMs = 0 } = cluster.recoveries.at(-1) ?? {};
  console.log(`  its work went on ${(resumed() ?? 0) - killedAt} ms after the kill; it was ready after ${tookMs} ms`);
});
