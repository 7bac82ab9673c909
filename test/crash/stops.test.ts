// Stops and restarts real processes under load. A process that gets SIGTERM finishes its work or hands it over, so a
// rolling restart fails no request. The work of a killed process continues within seconds.
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../schemas/shared/ids.js';
import { until } from '../rig/checks/until.js';
import { hang, ok, slow } from '../rig/standins/responders.js';
import type { Operation } from './evidence.js';
import { apiNames, type Cluster, type ProcessName, workerNames } from './rig/cluster.js';
import { type CrashTest, startCrashTest } from './rig/crashTest.js';
import type { Known, Load } from './rig/load.js';
import type { SubscribedReceiver } from './rig/receivers.js';

let test: CrashTest;
let receiver: SubscribedReceiver;
let cluster: Cluster;
let load: Load;

beforeAll(async () => {
  test = await startCrashTest({ seed: 10, members: 6, env: { CHANGE_WORKFLOWS_PER_SECOND: '2' } });
  ({ receiver, cluster, load } = test);
});

afterAll(() => test?.stop());

/** Stops the process with SIGTERM, as an operator does, and waits until it is ready again. */
async function restart(name: ProcessName): Promise<{ ending: string; tookMs: number }> {
  const before = cluster.endings.length;
  const pid = cluster.pidOf(name);
  const askedAt = Date.now();
  cluster.signal(name, 'SIGTERM');
  await until(async () => cluster.endings.length > before, { everyMs: 10, throwingIsNo: true });
  const last = cluster.endings[before];
  await until(async () => cluster.pidOf(name) !== pid, { everyMs: 10, throwingIsNo: true });
  await cluster.allUp();
  return { ending: last?.ending ?? '', tookMs: (last?.at ?? 0) - askedAt };
}

interface Clients {
  answered: () => number;
  /** The answers other than 200, and the errors. */
  failures: string[];
  stop(): Promise<void>;
}

/**
 * Clients on keep-alive connections that do not repeat requests. When a connection is refused they use the other API,
 * like a load balancer, because nothing was sent.
 */
function steadyClients(count: number): Clients {
  const agents = apiNames.map(() => new Agent({ connections: count, keepAliveTimeout: 60_000 }));
  const failures: string[] = [];
  let answered = 0;
  let stopped = false;

  async function ask(member: Known, turn: number): Promise<void> {
    const key = `stop-${newId()}`;
    const operation: Operation = {
      ...{ kind: 'delta', memberId: member.id, keyedChangeId: `points:${member.id}:${key}`, outcome: 'indeterminate' },
      ...{ requests: 1, bodies: [], surprises: [] },
    };
    load.operations.push(operation);
    for (const api of [turn, turn + 1].map((each) => each % apiNames.length)) {
      const name = apiNames[api] ?? 'api-1';
      try {
        const answer = await fetch(`${cluster.apis[name]}/merchants/me/members/${member.id}/points`, {
          method: 'PATCH',
          headers: { 'X-API-Key': test.world.apiKey, 'Idempotency-Key': key, 'Content-Type': 'application/json' },
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

it('a rolling restart of all APIs and workers under load fails no request and leaves no attempt unlogged', async () => {
  receiver.setResponder(slow(50));
  const clients = steadyClients(4);
  try {
    for (const name of [...apiNames, ...workerNames]) {
      const before = clients.answered();
      await until(async () => clients.answered() > before + 10, { everyMs: 20, throwingIsNo: true });
      const { ending, tookMs } = await restart(name);
      console.log(`  ${name} ended after ${tookMs} ms`);
      expect([name, ending]).toEqual([name, 'ended with code 0']);
    }
  } finally {
    await clients.stop();
  }
  expect(clients.failures).toEqual([]);
  // A receiver may exceed the time limit; but every attempt was logged before its sender ended.
  const { receipts } = await test.toRest();
  const copies = new Map<string, number>();
  for (const { eventId } of receipts) copies.set(eventId, (copies.get(eventId) ?? 0) + 1);
  const deliveries = await cluster.deps.collections.deliveries
    .find({}, { projection: { eventId: 1, attempts: 1 } })
    .toArray();
  expect(deliveries.filter(({ eventId, attempts }) => (copies.get(eventId) ?? 0) > attempts)).toEqual([]);
});

it('a worker that gets SIGTERM while receivers hang hands over its work to the other worker', async () => {
  receiver.setResponder(hang());
  const before = receiver.arrivals().length;
  await Promise.all(load.known.map((member) => load.keyedChange('delta', member)));
  await until(async () => receiver.arrivals().length > before + 3, { everyMs: 20, throwingIsNo: true });
  const { ending, tookMs } = await restart('worker-1');
  console.log(`  worker-1 ended after ${tookMs} ms, with receivers that hang`);
  expect(ending).toBe('ended with code 0');
  await test.toRest();
});

it('the work of the only worker continues after its restart', async () => {
  await cluster.down('worker-2');
  receiver.setResponder(hang());
  const before = receiver.arrivals().length;
  await Promise.all(load.known.map((member) => load.keyedChange('delta', member)));
  await until(async () => receiver.arrivals().length > before + 3, { everyMs: 20, throwingIsNo: true });
  receiver.setResponder(ok());
  const killedAt = Date.now();
  cluster.signal('worker-1', 'SIGKILL');
  const resumed = () => receiver.arrivals().find(({ at }) => at > killedAt)?.at;
  await until(async () => resumed() !== undefined, { everyMs: 20, throwingIsNo: true });
  await test.toRest();
  const { tookMs = 0 } = cluster.recoveries.at(-1) ?? {};
  console.log(`  its work went on ${(resumed() ?? 0) - killedAt} ms after the kill; it was ready after ${tookMs} ms`);
});
