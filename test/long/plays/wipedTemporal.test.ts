// Temporal loses all its data while API and workers run. MongoDB holds the state: work in progress continues from its
// rows, and nothing is lost or doubled.
import { FormData } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { check } from '../../crash/checkers.js';
import { type Caller, isAnswer } from '../../crash/rig/caller.js';
import type { Cluster } from '../../crash/rig/cluster.js';
import { collectEvidence } from '../../crash/rig/collectEvidence.js';
import { type CrashTest, startCrashTest } from '../../crash/rig/crashTest.js';
import { drain } from '../../crash/rig/drain.js';
import type { Load } from '../../crash/rig/load.js';
import { aSubscribedReceiver, type SubscribedReceiver } from '../../crash/rig/receivers.js';
import { pastCache } from '../../rig/checks/pastCache.js';
import { until } from '../../rig/checks/until.js';
import { ok, status } from '../../rig/standins/responders.js';

const phones = 4;
const imported = 1_500;

let test: CrashTest;
let failing: SubscribedReceiver;
let good: SubscribedReceiver;
let cluster: Cluster;
let caller: Caller;
let load: Load;

beforeAll(async () => {
  const retryPolicy = { maxAttempts: 20, backoffMs: 3_000 };
  const events = ['points.changed', 'member.updated'];
  [failing, good] = await Promise.all([
    aSubscribedReceiver({ name: 'failing', responder: status(503), steady: true, events, retryPolicy }),
    aSubscribedReceiver({ name: 'good', responder: ok(), steady: true, events: ['member.created', 'points.changed'] }),
  ]);
  const env = { REVIVE_AFTER_MS: '5000', REPLAY_PER_SECOND: '5', PASS_UPDATE_WAIT_MS: '500' };
  test = await startCrashTest({ seed: 11, members: 2 * phones, phones, receivers: [failing, good], env });
  ({ cluster, caller, load } = test);
});

afterAll(() => test?.stop());

async function post(path: string, body: unknown): Promise<{ id: string; eventId: string }> {
  const { answer } = await caller.call({ method: 'POST', path: `/merchants/me${path}`, body });
  if (!isAnswer(answer) || answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return JSON.parse(answer.text).data;
}

/** A large import that the checkers include. */
async function startImport(): Promise<string> {
  const people = Array.from({ length: imported }, (_, index) => ({
    email: `imported-${index}@example.com`,
    initialPoints: index % 40,
  }));
  load.operations.push({
    ...{ kind: 'import', memberId: '', outcome: 'acknowledged', requests: 1, bodies: [], surprises: [] },
    people,
  });
  const lines = people.map(({ email, initialPoints }) => `${email},Imported,${initialPoints}`);
  const form = new FormData();
  form.set('programId', 'crash-points');
  form.set(
    'file',
    new File([['email,firstName,initialPoints', ...lines].join('\n')], 'members.csv', { type: 'text/csv' }),
  );
  const { answer } = await caller.call({ method: 'POST', path: '/merchants/me/imports', form });
  if (!isAnswer(answer) || answer.status !== 202) throw new Error(JSON.stringify(answer));
  return JSON.parse(answer.text).data.id;
}

it('all work continues from the database after Temporal has lost all its data', async () => {
  const { batches, deliveries, devices, events, members, programs } = cluster.deps.collections;
  const answerPushes = async (code: number): Promise<void> => {
    for (const { pushToken } of await devices.find().toArray()) test.apple.apns.answer(pushToken, { status: code });
  };

  await answerPushes(503);
  await programs.updateOne({ _id: 'crash-tiers' }, { $set: { 'passTemplate.backgroundColor': 'no colour' } });
  await pastCache();
  await load.enroll('crash-tiers');
  await load.enroll('crash-tiers');
  for (let round = 0; round < 4; round += 1)
    await Promise.all(load.known.slice(0, phones).map((member) => load.keyedChange('delta', member)));
  const isFailing = () => deliveries.countDocuments({ subscriptionId: failing.subscriptionId, state: 'retrying' });
  await until(async () => (await isFailing()) >= 8);
  const lateEvents = await events
    .find({ type: 'points.changed', state: 'published', passUpdate: { $exists: false } })
    .toArray();
  expect(lateEvents.length).toBeGreaterThan(0);
  const { eventId } = await post(`/webhooks/${failing.subscriptionId}/test`, {});
  await until(() => deliveries.findOne({ eventId, state: 'retrying' }));
  const file = await startImport();
  await until(async () => ((await batches.findOne({ _id: file }))?.done ?? 0) > 0, { everyMs: 10 });
  const range = { since: '2020-01-01T00:00:00Z', only: 'all' };
  const { id: replayed } = await post(`/webhooks/${good.subscriptionId}/replay`, range);
  const { id: campaign } = await post('/campaigns', { programId: 'crash-points', message: 'Hello' });
  const phases = async () =>
    (await batches.find({ _id: { $in: [file, replayed, campaign] } }).toArray()).map(({ phase }) => phase);
  await cluster.wipeTemporal();
  expect(await phases()).not.toContain('completed');

  const wipedAt = performance.now();
  for (const receiver of [failing, good]) receiver.setResponder(ok());
  await answerPushes(200);
  await programs.updateOne({ _id: 'crash-tiers' }, { $unset: { 'passTemplate.backgroundColor': '' } });
  expect(await drain(test.world, { withinMs: 240_000 })).not.toBeNull();
  console.log(
    `  everything was at rest ${Math.round((performance.now() - wipedAt) / 1_000)} s after Temporal was back`,
  );

  expect(await phases()).toEqual(['completed', 'completed', 'completed']);
  expect(await deliveries.findOne({ eventId })).toMatchObject({ state: 'succeeded' });
  expect(await members.countDocuments({ 'pass.appleIssuedAt': { $exists: false } })).toBe(0);
  const ids = lateEvents.map(({ _id }) => _id);
  expect(await events.countDocuments({ _id: { $in: ids }, passUpdate: { $exists: true } })).toBe(ids.length);
  expect(check(await collectEvidence(test.world, load.operations))).toEqual([]);
}, 400_000);
