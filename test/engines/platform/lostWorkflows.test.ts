// Work whose workflow was terminated or lost is found in the database and continues. The activities of the schedule
// `revive-work` are called directly.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { reviveBatches } from '../../../activities/batches/reviveBatches.activity.js';
import { reviveErasures } from '../../../activities/persons/reviveErasures.activity.js';
import { reviveIssues, revivePushes } from '../../../activities/wallets/revivePasses.activity.js';
import { reviveDeliveries } from '../../../activities/webhooks/reviveDeliveries.activity.js';
import { removeAll } from '../../../platform/mongodb/updateMany.js';
import type { BatchKind } from '../../../schemas/batches/batches.schema.js';
import { deliveryWorkflowId, eraseId, newId } from '../../../schemas/shared/ids.js';
import type { DeliveryRow } from '../../../schemas/webhooks/webhooks.rows.js';
import { until } from '../../rig/checks/until.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { ok, status } from '../../rig/standins/responders.js';
import { batchRow } from '../../rig/start/batchRow.js';
import { type Customers, startCustomers } from '../../rig/start/customers.js';
import { aMerchant } from '../../rig/start/merchant.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import type { TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let real: RealWallets;
let service: TestService;
let customers: Customers;
let worker: TestWorker;
let receiver: Receiver;

beforeAll(async () => {
  real = await startRealWallets({ env: { REVIVE_AFTER_MS: '1000', PASS_UPDATE_WAIT_MS: '500' } });
  service = real.service;
  [customers, worker, receiver] = await Promise.all([startCustomers(real), startTestWorker(service), startReceiver()]);
});
afterAll(async () => {
  await worker.close();
  await real.stop();
  await customers.stop();
  await receiver.stop();
});
beforeEach(() => receiver.setResponder(ok()));

const terminate = (workflowId: string) => service.client.workflow.getHandle(workflowId).terminate('by a test');

/** Ends every workflow but the relay, as if Temporal had lost its data. */
async function terminateAll(): Promise<void> {
  const query =
    'ExecutionStatus = "Running" AND WorkflowType IN ("deliverWebhook", "announceChange", "issuePasses", "retryPasses")';
  await until(async () => {
    let left = 0;
    for await (const { workflowId } of service.client.workflow.list({ query })) {
      left += 1;
      await terminate(workflowId).catch(() => undefined);
    }
    return left === 0;
  });
}

async function subscribe(events: string[]): Promise<string> {
  const body = { url: receiver.url, events, retryPolicy: { maxAttempts: 20, backoffMs: 500 } };
  return (await real.merchant.call('/merchants/me/webhooks', { body })).body.data.id;
}

describe('a delivery without its workflow', () => {
  it('continues, whether it is a first delivery, a replay or a test', async () => {
    const { deliveries } = service.deps.collections;
    const id = await subscribe(['pass.scanned']);
    const { memberCode } = await real.merchant.enroll();
    receiver.setResponder(status(503));
    await real.merchant.call('/merchants/me/scans', { body: { code: memberCode } });
    const first = await until(() => deliveries.findOne({ subscriptionId: id, state: 'retrying' }));
    await real.merchant.call(`/merchants/me/webhooks/delivery-logs/${first._id}/replay`, { method: 'POST' });
    await real.merchant.call(`/merchants/me/webhooks/${id}/test`, { method: 'POST' });
    await until(async () => (await deliveries.countDocuments({ subscriptionId: id, state: 'retrying' })) === 3);
    await terminateAll();
    receiver.setResponder(ok());
    await until(async () => {
      await reviveDeliveries(worker.deps);
      return (await deliveries.countDocuments({ subscriptionId: id, state: 'succeeded' })) === 3;
    });
    expect(await deliveries.countDocuments({ subscriptionId: id, dueGroup: { $exists: true } })).toBe(0);
    await real.merchant.call(`/merchants/me/webhooks/${id}`, { method: 'DELETE' });
  });

  it('whose workflow still waits is attempted neither earlier nor twice', async () => {
    const { deliveries } = service.deps.collections;
    const id = await subscribe(['pass.scanned']);
    const { memberCode } = await real.merchant.enroll();
    receiver.setResponder(status(503));
    await real.merchant.call('/merchants/me/scans', { body: { code: memberCode } });
    const { _id, eventId } = await until(() =>
      deliveries.findOne({ subscriptionId: id, state: 'retrying', attempts: { $gte: 2 } }),
    );
    await deliveries.updateOne({ _id }, { $set: { dueAt: new Date(1) } });
    const { runId } = await service.client.workflow.getHandle(deliveryWorkflowId(eventId, id)).describe();
    receiver.setResponder(ok());
    await reviveDeliveries(worker.deps);
    const done = await until(() => deliveries.findOne({ _id, state: 'succeeded' }));
    expect(done.attempts).toBe(receiver.requests.filter(({ headers }) => headers['webhook-id'] === eventId).length);
    expect((await service.client.workflow.getHandle(deliveryWorkflowId(eventId, id)).describe()).runId).toBe(runId);
    await real.merchant.call(`/merchants/me/webhooks/${id}`, { method: 'DELETE' });
  });
});

it('lost deliveries of one merchant do not delay those of another', async () => {
  const { deliveries } = service.deps.collections;
  const now = Date.now();
  const other = await aMerchant(service);
  const others = await other.call('/merchants/me/webhooks', { body: { url: receiver.url, events: ['pass.scanned'] } });
  const [many, deleted] = [await subscribe(['pass.scanned']), newId()];
  const lost = (merchantId: string, subscriptionId: string, index: number): DeliveryRow => ({
    ...{ _id: newId(), merchantId, subscriptionId, eventId: newId() },
    ...{ eventType: 'points.changed', url: receiver.url, state: 'retrying', success: null, statusCode: null },
    ...{ error: null, detail: null, attempts: 1, history: [], createdAt: new Date(now), lastAttemptAt: null },
    ...{ nextAttemptAt: null, fence: newId(), dueAt: new Date(now - 60_000 + index) },
    dueGroup: `own-workflow:${merchantId}`,
  });
  const { id: merchantId } = real.merchant;
  const rows = Array.from({ length: 2_000 }, (_, index) => lost(merchantId, many, index));
  const behind = [lost(other.id, others.body.data.id, 5_000)];
  const ended = lost(other.id, deleted, 5_001);
  // A merchant whose deliveries are only retried later does not hide those behind it.
  const later = Array.from({ length: 60 }, (_, index) => ({
    ...lost(`merchant-${String(index).padStart(3, '0')}`, deleted, 0),
    dueAt: new Date(now + 3_600_000),
  }));
  await deliveries.insertMany([...rows, ...later, ...behind, ended]);
  const started = new Set<string>();
  const workflowClient = {
    ...worker.deps.workflowClient,
    start: async ({ workflowId }: { workflowId: string }) => void started.add(workflowId),
  };
  const idOf = ({ _id, eventId, subscriptionId }: DeliveryRow) => deliveryWorkflowId(eventId, subscriptionId, _id);
  await until(async () => {
    await reviveDeliveries({ ...worker.deps, workflowClient });
    return started.size >= rows.length + behind.length;
  });
  expect(started).toEqual(new Set([...rows, ...behind].map(idOf)));
  for (const row of behind) expect([...started].indexOf(idOf(row))).toBeLessThan(100);
  expect(await deliveries.findOne({ _id: ended._id })).toMatchObject({ state: 'exhausted', error: 'deleted' });
  expect(await deliveries.countDocuments({ subscriptionId: many, dueAt: { $lte: new Date(now) } })).toBe(0);
  const subscriptionId = { $in: [many, deleted, others.body.data.id] };
  await removeAll(service.deps, 'deliveries', { subscriptionId });
});

it('a push that no wallet accepted in time is made without its workflow', async () => {
  const { events } = service.deps.collections;
  const customer = await customers.join();
  const phone = await customers.install(customer);
  real.apns.answer(phone.pushToken(), { status: 503 });
  const { passUpdate } = await customers.points(customer, { delta: 3 });
  expect(passUpdate).toBeNull();
  const late = await until(() =>
    events.findOne({ memberId: customer.member._id, type: 'points.changed', state: 'published' }),
  );
  expect(late.pushDueAt).toBeInstanceOf(Date);
  await terminateAll();
  real.apns.answer(phone.pushToken(), { status: 200 });
  await until(async () => {
    await revivePushes(worker.deps);
    const row = await events.findOne({ _id: late._id });
    return row?.passUpdate?.apple.devicesNotified === 1 && row.pushDueAt === undefined;
  });
  await until(() => phone.history().at(-1)?.balance === 3);
});

it('a push of more than a day ago is given up', async () => {
  const { events } = service.deps.collections;
  const { id } = await real.merchant.enroll();
  const event = await until(() => events.findOne({ memberId: id, type: 'member.created', state: 'published' }));
  const occurredAt = new Date(Date.now() - 25 * 3_600_000);
  await events.updateOne({ _id: event._id }, { $set: { occurredAt, pushDueAt: occurredAt } });
  await revivePushes(worker.deps);
  expect((await events.findOne({ _id: event._id }))?.pushDueAt).toBeUndefined();
});

it('a pass that a wallet did not accept is issued without its workflow', async () => {
  const { members, programs } = service.deps.collections;
  const program = await real.merchant.program();
  await programs.updateOne({ _id: program._id }, { $set: { 'passTemplate.backgroundColor': 'no colour' } });
  const { id } = await real.merchant.enroll({ programId: program._id });
  await until(() => members.findOne({ _id: id, 'pass.issueDueAt': { $exists: true } }));
  await terminateAll();
  await programs.updateOne({ _id: program._id }, { $unset: { 'passTemplate.backgroundColor': '' } });
  await until(async () => {
    await reviveIssues(worker.deps);
    const { pass } = (await members.findOne({ _id: id })) ?? {};
    return pass?.appleIssuedAt && pass.googleSaveUrl !== undefined && pass.issueDueAt === undefined;
  });
});

it('a batch that cannot be started again does not delay the others', async () => {
  const { batches, members } = service.deps.collections;
  const { id: memberId, programId } = await real.merchant.enroll();
  const row = (kind: string, _id: string) =>
    batchRow({
      ...{ _id, merchantId: real.merchant.id, programId, kind: kind as BatchKind, phase: 'queued' },
      startedAt: new Date(Date.now() - 60_000),
      campaign: { message: 'Hello', tags: [] },
    });
  const ended = newId();
  await batches.insertMany([row('unknown', `0-${newId()}`), row('campaign', ended), row('unknown', `z-${newId()}`)]);
  expect(await reviveBatches(worker.deps, {})).toEqual({ revived: 3 });
  await until(async () => (await batches.findOne({ _id: ended }))?.phase === 'completed');
  expect((await members.findOne({ _id: memberId }))?.pass.message).toBe('Hello');
  await batches.deleteOne({ kind: 'unknown' as BatchKind });
});

it('a batch is started again behind more batches than one call looks at', async () => {
  const { batches } = service.deps.collections;
  const { programId } = await real.merchant.enroll();
  const row = (_id: string, phase: 'storing' | 'queued') =>
    batchRow({
      ...{ _id, merchantId: real.merchant.id, programId, kind: 'campaign', phase, startedAt: new Date(0) },
      campaign: { message: 'Hello', tags: [] },
    });
  // No workflow is started for a batch that is still being stored.
  const storing = Array.from({ length: 600 }, (_, index) => row(`m-${String(999 - index)}-${newId()}`, 'storing'));
  const [first, last] = [`0-${newId()}`, `z-${newId()}`];
  await batches.insertMany([...storing, row(last, 'queued'), row(first, 'queued')]);
  let calls = 0;
  for (let after: string | undefined = ''; after !== undefined && calls < 10; calls += 1)
    after = (await reviveBatches(worker.deps, { after })).next;
  expect(calls).toBe(2);
  for (const _id of [first, last]) await until(() => batches.findOne({ _id, phase: 'completed' }));
  await removeAll(service.deps, 'batches', { merchantId: real.merchant.id, phase: 'storing' });
});

it('an erasure is started again behind more erasures than one run starts', async () => {
  const merchantId = newId();
  const rows = Array.from({ length: 501 }, (_, index) => {
    return { _id: newId(), merchantId, programId: newId(), runs: 0, dueAt: new Date(1 + index) };
  });
  await service.deps.collections.erasures.insertMany(rows);
  const started: string[] = [];
  const workflowClient = {
    ...worker.deps.workflowClient,
    start: async ({ workflowId }: { workflowId: string }) => void started.push(workflowId),
  };
  for (let run = 0; run < 2; run += 1) await reviveErasures({ ...worker.deps, workflowClient });
  expect(started.slice(0, 500)).toEqual(rows.slice(0, 500).map(({ _id }) => eraseId(_id)));
  expect(started.slice(500)).toEqual([eraseId(rows[500]?._id ?? '')]);
  await removeAll(service.deps, 'erasures', { merchantId });
});
