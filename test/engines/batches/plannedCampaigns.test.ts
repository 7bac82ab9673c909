// Campaigns to an audience, and at a time to come.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countUnfinished } from '../../../activities/access/batchRoom.writes.js';
import { reviveBatches } from '../../../activities/batches/reviveBatches.activity.js';
import { startBatch } from '../../../activities/batches/startBatch.effect.js';
import { campaignId, newId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { batchRow } from '../../rig/start/batchRow.js';
import { csvOf, sendImport } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let service: TestService;
let worker: TestWorker;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ env: { MERCHANT_MAX_RUNNING_BATCHES: '1' } });
  worker = await startTestWorker(service);
});
afterAll(async () => {
  await worker.close();
  await service.stop();
});

const send = (body: unknown, headers = {}) => merchant.call('/merchants/me/campaigns', { body, headers });
const read = async (id: string) => (await merchant.call(`/merchants/me/campaigns/${id}`)).body.data;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const dayMs = 86_400_000;

async function ended(id: string) {
  return until(async () => {
    const campaign = await read(id);
    return ['completed', 'failed', 'cancelled'].includes(campaign.phase) && campaign;
  });
}

describe('a campaign to an audience', () => {
  beforeAll(async () => {
    merchant = await aMerchant(service);
  });

  const told = async () => {
    const rows = await service.deps.collections.members.find({ merchantId: merchant.id }).toArray();
    return (message: string) => rows.filter(({ pass }) => pass.message === message).map(({ _id }) => _id);
  };

  it('reaches exactly the members whom the list of members shows for it, in each program by its own goal', async () => {
    const [short, long] = [await merchant.program({ goal: 10 }), await merchant.program({ goal: 100 })];
    const enroll = (programId: string, initialPoints: number) => merchant.enroll({ programId, initialPoints });
    const [full, , away, voided] = [
      await enroll(short._id, 9),
      await enroll(long._id, 9),
      await enroll(long._id, 1),
      await enroll(short._id, 9),
    ];
    await sendImport(merchant, { programId: long._id, file: csvOf(3, 'imported') });
    const { members, batches } = service.deps.collections;
    await until(() => batches.findOne({ merchantId: merchant.id, kind: 'members.import', phase: 'completed' }));
    await members.updateOne({ _id: away.id }, { $set: { seenAt: new Date(Date.now() - 31 * dayMs) } });
    await merchant.call(`/merchants/me/members/${voided.id}/status`, { method: 'PATCH', body: { status: 'voided' } });

    for (const [audience, count] of [
      ['nearlyFull', 1],
      ['away', 1],
      ['joined', 3],
    ] as const) {
      const listed = (await merchant.call(`/merchants/me/members?audience=${audience}`)).body.data.items;
      expect([audience, listed.length]).toEqual([audience, count]);
      expect((await send({ audience, dryRun: true })).body.data).toMatchObject({ matched: count, reachable: 0 });
      const { body } = await send({ audience, message: `To ${audience}` });
      expect(await ended(body.data.id)).toMatchObject({ audience, counts: { matched: count, skipped: count } });
      const reached = (await told())(`To ${audience}`);
      expect(reached.toSorted()).toEqual(listed.map(({ id }: { id: string }) => id).toSorted());
    }
    expect((await send({ audience: 'nearlyFull', programId: long._id, dryRun: true })).body.data.matched).toBe(0);
    await merchant.call(`/merchants/me/members/${full.id}/tags`, { body: { tags: ['vip'] } });
    expect((await send({ audience: 'joined', tags: ['vip'], dryRun: true })).body.data.matched).toBe(1);
    expect((await send({ audience: 'sleepy', message: 'Hi' })).status).toBe(400);
  });

  it('counts who has the card on a phone, once for both wallets', async () => {
    merchant = await aMerchant(service);
    const { _id: programId } = await merchant.program();
    const { members } = service.deps.collections;
    const passes = [{ deviceCount: 2 }, { 'pass.googleSaved': true }, { deviceCount: 1, 'pass.googleSaved': true }, {}];
    for (const pass of passes) {
      const { id } = await merchant.enroll({ programId });
      await members.updateOne({ _id: id }, { $set: { ...pass, merchantId: merchant.id } });
    }
    const count = async (who: object) => (await send({ ...who, dryRun: true })).body.data;
    for (const who of [{}, { programId }, { audience: 'joined' }])
      expect(await count(who)).toEqual({ dryRun: true, matched: 4, reachable: 3, complete: true });
    expect(await count({ audience: 'away' })).toMatchObject({ matched: 0, reachable: 0 });
  });
});

describe('a campaign at a time to come', () => {
  let programId: string;
  let memberId: string;

  beforeAll(async () => {
    merchant = await aMerchant(service);
    programId = (await merchant.program())._id;
    memberId = (await merchant.enroll({ programId })).id;
  });
  const marked = (_id: string) =>
    until(() => service.deps.collections.batches.findOne({ _id, phaseStartedAt: { $exists: true } }));
  const quiet = () => until(async () => (await countUnfinished(service.deps, merchant.id, 1)) === 0);
  const message = async () => (await service.deps.collections.members.findOne({ _id: memberId }))?.pass.message;

  it('waits for its time', async () => {
    const sendAt = inMs(600_000);
    const { status, body } = await send({ programId, message: 'Good evening', sendAt });
    expect([status, body.data]).toMatchObject([202, { phase: 'scheduled', sendAt, percent: 0 }]);
    const listed = (await merchant.call('/merchants/me/batches?kind=campaign')).body.data.items;
    expect(listed[0]).toMatchObject({ id: body.data.id, phase: 'scheduled', sendAt });
    const { searchAttributes, status: running } = await service.client.workflow
      .getHandle(campaignId(body.data.id))
      .describe();
    expect([running.name, searchAttributes.BatchId]).toEqual(['RUNNING', [body.data.id]]);
    await marked(body.data.id);
    expect(await message()).toBeUndefined();
  });

  it('is sent when its time has come', async () => {
    const sendAt = inMs(3_000);
    const { body } = await send({ programId, message: 'Good morning', sendAt });
    const campaign = await ended(body.data.id);
    expect(campaign).toMatchObject({ phase: 'completed', counts: { matched: 1 } });
    expect(Date.parse(campaign.finishedAt)).toBeGreaterThanOrEqual(Date.parse(sendAt));
    expect(await message()).toBe('Good morning');
  });

  it('has a workflow type of its own, as one to an audience has: an older worker does not take it', async () => {
    const typeOf = async (body: object) => {
      const { id } = (await send({ programId, message: 'To whom', ...body })).body.data;
      return (await service.client.workflow.getHandle(campaignId(id)).describe()).type;
    };
    expect(await typeOf({ sendAt: inMs(dayMs) })).toBe('sendPlannedCampaign');
    expect(await typeOf({ audience: 'away' })).toBe('sendPlannedCampaign');
    await quiet();
  });

  describe('whose start is not confirmed', () => {
    const start = async (id: string, reach: () => Promise<unknown>) => {
      const { workflowClient } = worker.deps;
      const lost: typeof workflowClient.start = async (workflow) => {
        await reach();
        later = () => workflowClient.start(workflow);
        throw new Error('No answer came.');
      };
      const sendAt = new Date(Date.now() + dayMs);
      const campaign = { message: 'Perhaps', tags: [] };
      const startedBy = { type: 'user', id: 'test' } as const;
      const batch = {
        _id: id,
        merchantId: merchant.id,
        kind: 'campaign',
        programId,
        startedBy,
        sendAt,
        campaign,
      } as const;
      const deps = { ...worker.deps, workflowClient: { ...workflowClient, start: lost } };
      return startBatch(deps, { batch, summary: 'a test' });
    };
    let later: () => Promise<void>;

    it('is accepted when its workflow waits already', async () => {
      const id = newId();
      const { workflowClient } = worker.deps;
      const input = { merchantId: merchant.id, batchId: id };
      const begun = { name: 'sendPlannedCampaign', workflowId: campaignId(id), input } as const;
      const how = { summary: 'a test', searchAttributes: {}, priority: 5, fairnessKey: 'test' } as const;
      const row = await start(id, async () => {
        await workflowClient.start({ ...begun, ...how });
        await marked(id);
      });
      expect(row._id).toBe(id);
      expect(await read(id)).toMatchObject({ phase: 'scheduled' });
    });

    it('is refused when it does not, and a workflow that comes later ends at once instead of at its time', async () => {
      const id = newId();
      await expect(start(id, async () => {})).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect((await merchant.call(`/merchants/me/campaigns/${id}`)).status).toBe(404);
      await later();
      await expect(service.client.workflow.getHandle(campaignId(id)).result()).rejects.toThrow();
    });
  });

  it('takes up no place of a running batch, and is the same one for a repeated key', async () => {
    const body = { programId, message: 'In a while', sendAt: inMs(40 * dayMs) };
    const key = { 'Idempotency-Key': `planned-${newId()}` };
    const [first, repeated] = [await send(body, key), await send(body, key)];
    expect(repeated.body.data).toEqual(first.body.data);
    expect((await send({ ...body, sendAt: inMs(50 * dayMs) })).status).toBe(202);
    const running = batchRow({ merchantId: merchant.id, kind: 'campaign', phase: 'running' });
    await service.deps.collections.batches.insertOne(running);
    expect((await send({ ...body, sendAt: inMs(60 * dayMs) })).status).toBe(202);
    expect((await send({ programId, message: 'One too many' })).status).toBe(429);
    await service.deps.collections.batches.deleteOne({ _id: running._id });
    const { status, body: now } = await send({ programId, message: 'Now' });
    expect(status).toBe(202);
    await ended(now.data.id);
    for (const sendAt of [inMs(-1_000), inMs(401 * dayMs), 'tomorrow'])
      expect((await send({ ...body, sendAt })).body.error).toMatchObject({
        code: 'VALIDATION_FAILED',
        details: [{ path: 'sendAt' }],
      });
  });

  it('counts among the campaigns of the day on which it is sent', async () => {
    const other = await aMerchant(service);
    await service.deps.collections.merchants.insertOne({
      _id: other.id,
      name: 'Other',
      createdAt: new Date(),
      limits: { campaignsADay: 1 },
    });
    const ask = (sendAt?: string) =>
      other.call('/merchants/me/campaigns', { body: { message: 'Hello', ...(sendAt && { sendAt }) } });
    const plan = async (sendAt?: string) => (await ask(sendAt)).status;
    const asked = Date.now() + 3.5 * dayMs;
    expect(await plan(inMs(3 * dayMs))).toBe(202);
    expect(await plan(inMs(4.5 * dayMs))).toBe(202);
    const refused = await ask(new Date(asked).toISOString());
    expect(refused.status).toBe(429);
    // From the time of sending on: before the 4.5th day is none left, and then not for a day.
    const waits = Number(refused.headers.get('Retry-After'));
    expect(Math.abs(waits - (2 * dayMs) / 1_000)).toBeLessThan(60);
    expect(await plan(new Date(asked + waits * 1_000 - 60_000).toISOString())).toBe(429);
    expect(await plan(new Date(asked + waits * 1_000).toISOString())).toBe(202);
    expect(await plan()).toBe(202);
    expect(await plan()).toBe(429);
  });

  it('ends at once when it is cancelled, with one event and without its workflow', async () => {
    const { body } = await send({ programId, message: 'Not this', sendAt: inMs(10 * dayMs) });
    const { id } = body.data;
    const cancel = () => merchant.call(`/merchants/me/batches/${id}/cancel`, { method: 'POST' });
    expect((await cancel()).body.data).toMatchObject({ phase: 'cancelled', finishedAt: expect.any(String) });
    expect((await cancel()).body.data.phase).toBe('cancelled');
    expect(await service.client.workflow.getHandle(campaignId(id)).result()).toEqual({ phase: 'cancelled' });
    const events = await service.deps.collections.events
      .find({ merchantId: merchant.id, type: 'batch.failed' })
      .toArray();
    expect(events).toHaveLength(1);
    expect(await message()).not.toBe('Not this');
  });

  it('is sent once when its workflow was lost while it waited, to those who match by then', async () => {
    const { body } = await send({ programId, message: 'After all', sendAt: inMs(60_000) });
    const { id } = body.data;
    const late = await merchant.enroll({ programId });
    await marked(id);
    await service.client.workflow.getHandle(campaignId(id)).terminate('a test');
    await service.deps.collections.batches.updateOne({ _id: id }, { $set: { sendAt: new Date(Date.now() - 61_000) } });
    expect((await reviveBatches(worker.deps, {})).revived).toBe(1);
    expect(await ended(id)).toMatchObject({ phase: 'completed', counts: { matched: 2 } });
    const members = await service.deps.collections.members.find({ _id: { $in: [memberId, late.id] } }).toArray();
    expect(members.map(({ pass }) => pass.message)).toEqual(['After all', 'After all']);
  });
});
