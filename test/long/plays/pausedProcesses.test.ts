// Pauses processes for longer than their leases last, as a host does that moves a machine. Others take over their work.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CrashTest, startCrashTest } from '../../crash/rig/crashTest.js';
import { drain } from '../../crash/rig/drain.js';
import type { Known } from '../../crash/rig/load.js';
import { until } from '../../rig/checks/until.js';
import { hang, ok } from '../../rig/standins/responders.js';

let test: CrashTest;

beforeAll(async () => {
  // With few workflows for single changes, a burst leaves some events to the relay.
  test = await startCrashTest({ seed: 9, members: 2, phones: 1, env: { CHANGE_WORKFLOWS_PER_SECOND: '5' } });
  await test.toRest();
});
afterAll(() => test?.stop());

it('an API and a worker that are paused for 30 s repeat no change and no push that other processes took over', async () => {
  const { cluster, receiver, world, load } = test;
  const [withPhone, withoutPhone] = load.known;
  if (!withPhone || !withoutPhone) throw new Error('Too few members were enrolled.');
  const delta = (member: Known) => load.keyedChange('delta', member);
  await cluster.down('worker-2');
  receiver.setResponder(hang());
  const before = receiver.arrivals().length;
  const asked = Promise.all([delta(withPhone), ...Array.from({ length: 30 }, () => delta(withoutPhone))]);
  await until(async () => receiver.arrivals().length > before + 5, { everyMs: 20, throwingIsNo: true });
  const stoppedAt = performance.now();
  for (const name of ['api-1', 'worker-1'] as const) cluster.signal(name, 'SIGSTOP');
  receiver.setResponder(ok());
  await cluster.up('worker-2');
  await asked;
  expect(await drain(world, { withinMs: 120_000 })).not.toBeNull();
  await sleep(Math.max(0, 30_000 - (performance.now() - stoppedAt)));

  const seen = async () => ({
    pushes: test.apple.apns.pushes.length,
    ledger: await cluster.deps.collections.ledger.countDocuments(),
  });
  const then = await seen();
  for (const name of ['api-1', 'worker-1'] as const) cluster.signal(name, 'SIGCONT');
  // Nothing happens for a while.
  await sleep(4_000);
  expect(await seen()).toEqual(then);
  await test.toRest();
});
