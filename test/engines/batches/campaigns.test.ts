// A campaign reaches each matching member exactly once, and its counts are correct.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendMessages } from '../../../activities/batches/campaigns.activity.js';
import { pushLate } from '../../../activities/wallets/pushPasses.activity.js';
import { updateAll } from '../../../platform/mongodb/updateMany.js';
import { campaignId, newId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import type { VirtualIphone } from '../../rig/standins/virtualIphone.js';
import { csvOf, sendImport } from '../../rig/start/imports.js';
import { aMerchant, manyMembers, type TestMerchant } from '../../rig/start/merchant.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker } from '../../rig/start/testWorker.js';

const send = (merchant: TestMerchant, body: unknown) => merchant.call('/merchants/me/campaigns', { body });

async function ended(merchant: TestMerchant, id: string) {
  return until(async () => {
    const { body } = await merchant.call(`/merchants/me/campaigns/${id}`);
    return ['completed', 'failed', 'cancelled'].includes(body.data.phase) && body.data;
  });
}

describe('a campaign without wallet credentials', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let receiver: Receiver;

  beforeAll(async () => {
    service = await startService();
    merchant = await aMerchant(service);
    receiver = await startReceiver();
    await merchant.call('/merchants/me/webhooks', {
      body: { url: receiver.url, events: ['campaign.sent', 'batch.failed', 'batch.completed'] },
    });
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });

  const tell = (member: { id: string }, tags: string[]) =>
    merchant.call(`/merchants/me/members/${member.id}/tags`, { body: { tags } });
  const memberOf = async (id: string) => {
    const member = await service.deps.collections.members.findOne({ _id: id });
    if (!member) throw new Error('The member is gone.');
    return member;
  };

  it('puts its message on the passes of exactly the active members of the program with all of its tags', async () => {
    const [program, other] = [await merchant.program(), await merchant.program()];
    const enroll = (programId: string) => merchant.enroll({ programId });
    const [both, one, voided, elsewhere] = await Promise.all([
      enroll(program._id),
      enroll(program._id),
      enroll(program._id),
      enroll(other._id),
    ]);
    await Promise.all([
      tell(both, ['vip', 'gold']),
      tell(one, ['vip']),
      tell(voided, ['vip', 'gold']),
      tell(elsewhere, ['vip', 'gold']),
    ]);
    await merchant.call(`/merchants/me/members/${voided.id}/status`, { method: 'PATCH', body: { status: 'voided' } });
    const before = await memberOf(both.id);

    const audience = { programId: program._id, tags: ['VIP', ' gold '] };
    expect((await send(merchant, { ...audience, dryRun: true })).body.data).toEqual({
      dryRun: true,
      matched: 1,
      reachable: 0,
      complete: true,
    });
    const answer = await send(merchant, { ...audience, message: 'Come in', dryRun: false });
    expect(answer.status).toBe(202);
    expect(answer.body.data).toMatchObject({
      phase: 'queued',
      programId: program._id,
      tags: ['vip', 'gold'],
      message: 'Come in',
      counts: { matched: 0, pushed: 0, skipped: 0, failed: 0 },
      startedBy: { type: 'api-key' },
    });
    const campaign = await ended(merchant, answer.body.data.id);
    expect(campaign).toMatchObject({
      phase: 'completed',
      counts: { matched: 1, pushed: 0, skipped: 1, failed: 0 },
      percent: 100,
      finishedAt: expect.any(String),
    });

    const after = await memberOf(both.id);
    expect(after.pass).toMatchObject({ message: 'Come in', messageSequence: before.pass.messageSequence + 1 });
    expect(after.pass.tag.getTime()).toBeGreaterThan(before.pass.tag.getTime());
    expect(after.version).toBe(before.version + 1);
    for (const { id } of [one, voided, elsewhere]) expect((await memberOf(id)).pass).not.toHaveProperty('message');
    const { body } = await merchant.call(`/merchants/me/members/${both.id}/events`);
    const lines = body.data.items.map(({ type, outcome }: { type: string; outcome: string }) => `${type} ${outcome}`);
    expect(lines).toEqual(expect.arrayContaining(['push_sent skipped', 'google_object_patched skipped']));
  });

  it('ends with one event with the counts that the campaign shows, and without an event for each push', async () => {
    const { _id: programId } = await merchant.program();
    await Promise.all(Array.from({ length: 5 }, () => merchant.enroll({ programId })));
    const { body } = await send(merchant, { programId, message: 'Hello' });
    const campaign = await ended(merchant, body.data.id);
    await receiver.waitFor((requests) => requests.some((request) => request.body.includes(body.data.id)));
    const webhooks = receiver.requests.filter((request) => request.body.includes(body.data.id));
    expect(webhooks.map((request) => JSON.parse(request.body.toString()))).toMatchObject([
      {
        event: 'campaign.sent',
        data: {
          campaignId: body.data.id,
          merchantId: merchant.id,
          programId,
          tags: [],
          message: 'Hello',
          counts: { matched: 5, pushed: 0, skipped: 5, failed: 0 },
          startedAt: campaign.startedAt,
          finishedAt: campaign.finishedAt,
        },
      },
    ]);
    const generic = await merchant.call(`/merchants/me/batches/${body.data.id}`);
    expect(generic.body.data).toMatchObject({ kind: 'campaign', phase: 'completed', counts: { total: 5 } });
  });

  it('reaches more members than one chunk holds, each once, while their balances change', async () => {
    const program = await merchant.program();
    const members = await manyMembers(service.deps, { program, count: 230 });
    const { body } = await send(merchant, { programId: program._id, message: 'All of you' });
    const changes = members
      .slice(0, 40)
      .map((member) =>
        merchant.call(`/merchants/me/members/${member._id}/points`, { method: 'PATCH', body: { delta: 1 } }),
      );
    for (const { status } of await Promise.all(changes)) expect(status).toBe(200);
    expect((await ended(merchant, body.data.id)).counts).toEqual({ matched: 230, pushed: 0, skipped: 230, failed: 0 });
    const rows = await service.deps.collections.members.find({ programId: program._id }).toArray();
    expect(rows.map((row) => row.pass.messageSequence)).toEqual(Array(230).fill(1));
    expect(rows.filter((row) => row.balance === 1)).toHaveLength(40);
  });

  it('sends nothing twice when a chunk runs again, even on two workers at the same time', async () => {
    const { _id: programId } = await merchant.program();
    await Promise.all(Array.from({ length: 3 }, () => merchant.enroll({ programId })));
    const { body } = await send(merchant, { programId, message: 'Once' });
    const { id: batchId } = body.data;
    await ended(merchant, batchId);
    const { collections } = service.deps;
    await collections.batches.updateOne({ _id: batchId }, { $set: { phase: 'running', 'counts.deduped': 0 } });
    await updateAll(service.deps, 'batchTargets', {
      where: { batchId, counted: { $exists: true } },
      change: { $unset: { counted: '' } },
    });
    const worker = await startTestWorker(service);
    const never = new AbortController().signal;
    const step = { batchId, from: 0, shutdownSignal: never, cancellationSignal: never };
    await Promise.all([sendMessages(worker.deps, step), sendMessages(worker.deps, step)]);
    await worker.close();
    const members = await collections.members.find({ programId }).toArray();
    expect(members.map((member) => member.pass.messageSequence)).toEqual([1, 1, 1]);
    expect((await collections.batches.findOne({ _id: batchId }))?.counts).toMatchObject({ total: 3, deduped: 3 });
  });

  it('sends nothing again and publishes no second event when an operator resets it', async () => {
    const { _id: programId } = await merchant.program();
    await merchant.enroll({ programId });
    const { body } = await send(merchant, { programId, message: 'Once more' });
    const { id } = body.data;
    const campaign = await ended(merchant, id);
    await receiver.waitFor((requests) => requests.some((request) => request.body.includes(id)));
    const { client } = service;
    const handle = client.workflow.getHandle(campaignId(id));
    await handle.result();
    const { runId } = await handle.describe();
    const { events } = await handle.fetchHistory();
    await client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: campaignId(id), runId },
      reason: 'a test',
      requestId: newId(),
      workflowTaskFinishEventId: events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId ?? null,
    });
    expect(await handle.result()).toEqual({ phase: 'completed' });
    const [member] = await service.deps.collections.members.find({ programId }).toArray();
    expect(member?.pass.messageSequence).toBe(1);
    expect((await merchant.call(`/merchants/me/campaigns/${id}`)).body.data).toEqual(campaign);
    expect(receiver.requests.filter((request) => request.body.includes(id))).toHaveLength(1);
  });

  it('ends as cancelled when it is cancelled, with an event', async () => {
    const { _id: programId } = await merchant.program();
    await Promise.all(Array.from({ length: 3 }, () => merchant.enroll({ programId })));
    await service.stopWorker();
    const { body } = await send(merchant, { programId, message: 'Never mind' });
    const { id } = body.data;
    await merchant.call(`/merchants/me/batches/${id}/cancel`, { method: 'POST' });
    await service.startWorker();
    expect(await ended(merchant, id)).toMatchObject({ phase: 'cancelled', counts: { matched: 3, skipped: 0 } });
    await receiver.waitFor((requests) =>
      requests.some((request) => request.body.includes(id) && request.body.includes('batch.failed')),
    );
  });

  it('ends as completed with zero counts when no member matches', async () => {
    const { _id: programId } = await merchant.program();
    const { body } = await send(merchant, { programId, message: 'Anyone?' });
    expect((await ended(merchant, body.data.id)).counts.matched).toBe(0);
  });

  it('is counted beforehand, without a message and without a trace', async () => {
    const own = await aMerchant(service);
    const [one, other] = [await own.program(), await own.program()];
    const ofOne = await manyMembers(service.deps, { program: one, count: 3 });
    await manyMembers(service.deps, { program: other, count: 2 });
    await own.call(`/merchants/me/members/${ofOne[0]?._id}/tags`, { body: { tags: ['vip'] } });
    await own.call(`/merchants/me/members/${ofOne[1]?._id}/status`, { method: 'PATCH', body: { status: 'voided' } });
    const count = (audience: object) => send(own, { ...audience, dryRun: true });
    const counted = await Promise.all([
      count({}),
      count({ message: 'Hello' }),
      count({ programId: one._id }),
      count({ tags: ['vip'] }),
      count({ programId: other._id, tags: ['vip'] }),
    ]);
    expect(counted.map(({ status, body }) => [status, body.data])).toEqual(
      [4, 4, 2, 1, 0].map((matched) => [200, { dryRun: true, matched, reachable: 0, complete: true }]),
    );
    const { batches, audit } = service.deps.collections;
    expect(await batches.countDocuments({ merchantId: own.id })).toBe(0);
    expect(await audit.countDocuments({ merchantId: own.id, action: 'campaign.send' })).toBe(0);
    const theirs = await count({ programId: (await merchant.program())._id });
    expect(theirs.body.error.code).toBe('PROGRAM_NOT_FOUND');
    const without = await send(own, { dryRun: false });
    expect(without.body.error).toMatchObject({ details: [{ path: 'message', message: 'is required' }] });
  });

  it('is in the list of campaigns, which holds no other batches', async () => {
    const own = await aMerchant(service);
    const program = await own.program();
    const started = [await send(own, { message: 'One' }), await send(own, { message: 'Two' })];
    await sendImport(own, { programId: program._id, file: csvOf(1, 'listed') });
    const ids = async (query: string) =>
      (await own.call(`/merchants/me/batches?${query}`)).body.data.items.map(({ id }: { id: string }) => id);
    const newestFirst = started.map(({ body }) => body.data.id).reverse();
    expect(await ids('kind=campaign')).toEqual(newestFirst);
    expect((await own.call('/merchants/me/batches?kind=campaign&pageSize=1')).body.data).toMatchObject({
      items: [{ id: newestFirst[0], kind: 'campaign' }],
      total: 2,
    });
    expect(await ids('kind=members.import')).toHaveLength(1);
    expect(await ids('kind=passes.rebuild')).toEqual([]);
    expect(await ids('')).toHaveLength(3);
    expect((await own.call('/merchants/me/batches?kind=campaigns')).status).toBe(400);
  });

  it('refuses invalid campaigns, and programs and campaigns of another merchant', async () => {
    const other = await aMerchant(service);
    const { _id: programId } = await other.program();
    expect((await send(merchant, { programId, message: 'Hi' })).body.error.code).toBe('PROGRAM_NOT_FOUND');
    for (const body of [
      {},
      { message: '' },
      { message: 'x'.repeat(201) },
      { message: 'Hi', tags: [] },
      { message: 'Hi', all: true },
    ])
      expect([body, (await send(merchant, body)).status]).toEqual([body, 400]);
    const mine = await send(merchant, { programId: (await merchant.program())._id, message: 'Hi' });
    await ended(merchant, mine.body.data.id);
    const theirs = await other.call(`/merchants/me/campaigns/${mine.body.data.id}`);
    expect(theirs.body.error.code).toBe('BATCH_NOT_FOUND');
    expect((await merchant.call(`/merchants/me/campaigns/${newId()}`)).status).toBe(404);
  });

  it('has one workflow, which is found by the batch id', async () => {
    const { body } = await send(merchant, { programId: (await merchant.program())._id, message: 'Hi' });
    await ended(merchant, body.data.id);
    const { type, searchAttributes } = await service.client.workflow.getHandle(campaignId(body.data.id)).describe();
    expect(type).toBe('sendCampaign');
    expect(searchAttributes.BatchId).toEqual([body.data.id]);
  });
});

describe('a campaign to phones', () => {
  let real: RealWallets;

  beforeAll(async () => {
    real = await startRealWallets();
  });
  afterAll(() => real.stop());

  async function install(programId: string): Promise<VirtualIphone> {
    const { service, merchant } = real;
    const { id } = await merchant.enroll({ programId });
    const member = await until(() =>
      service.deps.collections.members.findOne({ _id: id, 'pass.appleIssuedAt': { $exists: true } }),
    );
    const phone = real.phone();
    await phone.install(`${service.publicUrl}/passes/${member.pass.token}.pkpass`);
    return phone;
  }

  it('counts a phone that is notified late as pushed, once', async () => {
    const { service, merchant, apns } = real;
    const { _id: programId } = await merchant.program();
    const [soon, late] = [await install(programId), await install(programId)];
    await merchant.enroll({ programId });
    apns.answer(late.pushToken(), { status: 503, reason: 'ServiceUnavailable' });
    const { body } = await send(merchant, { programId, message: 'Double points today' });
    const { id } = body.data;
    expect(await ended(merchant, id)).toMatchObject({
      phase: 'completed',
      counts: { matched: 3, pushed: 1, skipped: 1, failed: 1 },
    });
    apns.answer(late.pushToken(), { status: 200 });
    const read = async () => (await merchant.call(`/merchants/me/campaigns/${id}`)).body.data;
    const settled = { matched: 3, pushed: 2, skipped: 1, failed: 0 };
    await until(async () => (await read()).counts.failed === 0, { seen: read });
    expect(await read()).toMatchObject({ phase: 'completed', percent: 100, counts: settled });
    // The late push runs again, as after an activity that died before its completion was recorded.
    const { deps, close } = await startTestWorker(service);
    const events = await service.deps.collections.events.find({ programId, targetsId: { $exists: true } }).toArray();
    expect(events.length).toBe(3);
    await pushLate(deps, { leaseOwner: 'again', eventIds: events.map(({ _id }) => _id) });
    await close();
    expect((await read()).counts).toEqual(settled);
    for (const phone of [soon, late]) await phone.settled();
  });

  it('shows on each phone once, and counts members notified, without a phone, and not reached', async () => {
    const { merchant, apns } = real;
    const { _id: programId } = await merchant.program();
    const [reached, alsoReached, dead] = [await install(programId), await install(programId), await install(programId)];
    await merchant.enroll({ programId });
    apns.answer(dead.pushToken(), { status: 410, reason: 'Unregistered' });
    const counted = await send(merchant, { programId, dryRun: true });
    expect(counted.body.data).toEqual({ dryRun: true, matched: 4, reachable: 3, complete: true });
    const { body } = await send(merchant, { programId, message: 'Double points today' });
    const campaign = await ended(merchant, body.data.id);
    expect(campaign).toMatchObject({ phase: 'completed', counts: { matched: 4, pushed: 2, skipped: 1, failed: 1 } });
    for (const phone of [reached, alsoReached]) {
      await phone.settled();
      expect(phone.history().filter((view) => view.lockScreen === 'Double points today')).toHaveLength(1);
    }
  });
});
