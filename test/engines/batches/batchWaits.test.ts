// Batches that wait: batches of a suspended merchant stop until it is resumed, and a replay that waits for its receiver
// or its rate delays no batch of another merchant.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { merchants } from '../../../stack/commands/merchants.js';
import { pastCache } from '../../rig/checks/pastCache.js';
import { until } from '../../rig/checks/until.js';
import { aGate } from '../../rig/standins/gate.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { runOn } from '../../rig/start/commandLine.js';
import { batchEnd, csvOf } from '../../rig/start/imports.js';
import { aMerchant, manyMembers, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let receiver: Receiver;

beforeAll(async () => {
  service = await startService({ env: { REPLAY_PER_SECOND: '1', CHANGE_WORKFLOWS_PER_SECOND: '0' } });
  receiver = await startReceiver();
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

const operator = (line: string) => runOn(service, merchants, line.split(' '));
const batchOf = async (_id: string) => {
  const batch = await service.deps.collections.batches.findOne({ _id });
  if (!batch) throw new Error('The batch is gone.');
  return batch;
};
const progressOf = async (id: string) => {
  const { done, counts, completedMembers = 0, passIssuance, phase } = await batchOf(id);
  return { done, counts, completedMembers, passIssuance, phase };
};
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function aCampaign(merchant: TestMerchant, members: number): Promise<{ id: string; programId: string }> {
  const program = await merchant.program();
  await manyMembers(service.deps, { program, count: members });
  const { body } = await merchant.call('/merchants/me/campaigns', {
    body: { programId: program._id, message: 'Hello' },
  });
  return { id: body.data.id, programId: program._id };
}

/**
 * Running work on the merchant's batches stands still between two chunks, after their first ones, until `goOn`. `held`
 * has the ids of those batches.
 */
function holdBatches(merchant: TestMerchant): { held: ReadonlySet<string>; goOn: () => void } {
  const { batches } = service.deps.collections;
  const read = batches.findOne.bind(batches);
  const { open, opened } = aGate();
  const held = new Set<string>();
  const reading = vi.spyOn(batches, 'findOne').mockImplementation(async (...given: unknown[]) => {
    const row = await read(...(given as Parameters<typeof read>));
    if (row?.merchantId !== merchant.id || row.done === 0) return row;
    held.add(row._id);
    await opened;
    return row;
  });
  const goOn = () => {
    reading.mockRestore();
    open();
  };
  onTestFinished(goOn);
  return { held, goOn };
}

describe('a merchant that is suspended while its batches run', () => {
  const importRows = 1_000;
  const targets = 600;

  it('creates and pushes nothing more until it is resumed, and then each member once', async () => {
    const [merchant, other] = [await aMerchant(service), await aMerchant(service)];
    const { _id: programId } = await merchant.program();
    const work = holdBatches(merchant);
    const sent = await merchant.call(`/merchants/me/imports?programId=${programId}`, {
      body: csvOf(importRows, merchant.id),
      headers: { 'Content-Type': 'text/csv' },
    });
    const campaign = await aCampaign(merchant, targets);
    const ids = [sent.body.data.id as string, campaign.id];
    await until(() => work.held.size === 2);
    expect(await operator(`suspend ${merchant.id}`)).toMatchObject({ code: 0 });
    await until(async () => (await merchant.call('/merchants/me/programs')).status === 403);
    // A process may know of a suspension a second late.
    await pastCache();
    work.goOn();
    const pushes = () =>
      service.deps.collections.members.countDocuments({ programId: campaign.programId, 'pass.messageSequence': 1 });
    const progress = async () => ({ batches: await Promise.all(ids.map(progressOf)), pushed: await pushes() });
    // Work in progress when the suspension was noticed is completed, however long that takes.
    let before = await progress();
    await sleep(2_000);
    await until(
      async () => {
        const now = await progress();
        const stands = isDeepStrictEqual(now, before);
        before = now;
        return stands;
      },
      { everyMs: 2_000 },
    );
    for (const { phase } of before.batches) expect(['creating', 'publishing', 'running']).toContain(phase);
    const { pushed } = before;
    expect(pushed).toBeLessThan(targets);
    // Nothing happens for a while.
    await sleep(4_000);
    expect(await progress()).toEqual(before);
    const theirs = await aCampaign(other, 3);
    expect(await batchEnd(other, theirs.id)).toMatchObject({ phase: 'completed' });

    expect(await operator(`resume ${merchant.id}`)).toMatchObject({ code: 0 });
    await until(async () => (await merchant.call('/merchants/me/programs')).status === 200);
    expect(await batchEnd(merchant, ids[0] ?? '', 180_000)).toMatchObject({
      phase: 'completed',
      counts: { total: importRows, created: importRows },
      passIssuance: { apple: importRows, google: importRows },
    });
    expect(await batchEnd(merchant, campaign.id, 180_000)).toMatchObject({
      phase: 'completed',
      counts: { total: targets, deduped: targets },
    });
    expect(await pushes()).toBe(targets);
  });

  it('lists no targets until it is resumed', async () => {
    const merchant = await aMerchant(service);
    const program = await merchant.program();
    await manyMembers(service.deps, { program, count: 300 });
    await service.stopWorker();
    const { body } = await merchant.call('/merchants/me/campaigns', {
      body: { programId: program._id, message: 'Hello' },
    });
    const { id } = body.data;
    await operator(`suspend ${merchant.id}`);
    // A process may know of a suspension a second late.
    await until(async () => (await merchant.call('/merchants/me/programs')).status === 403);
    await pastCache();
    await service.startWorker();
    await until(async () => (await batchOf(id)).phase === 'running');
    await sleep(2_000);
    expect(await service.deps.collections.batchTargets.countDocuments({ batchId: id })).toBe(0);
    await operator(`resume ${merchant.id}`);
    await until(async () => (await merchant.call('/merchants/me/programs')).status === 200);
    expect(await batchEnd(merchant, id)).toMatchObject({ phase: 'completed', counts: { total: 300 } });
  });
});

describe('replays that wait', () => {
  it('delay no batch of another merchant, however many replays wait', async () => {
    const [busy, other] = [await aMerchant(service), await aMerchant(service)];
    const { memberCode } = await busy.enroll();
    const { body } = await busy.call('/merchants/me/webhooks', {
      body: { url: receiver.url, events: ['pass.scanned'], retryPolicy: { maxAttempts: 1, backoffMs: 0 } },
    });
    for (let count = 0; count < 120; count += 10)
      await Promise.all(
        Array.from({ length: 10 }, () => busy.call('/merchants/me/scans', { body: { code: memberCode } })),
      );
    const { events } = service.deps.collections;
    await until(async () => (await events.findOne({ merchantId: busy.id, state: 'new' })) === null);
    // One replay of 120 events takes 120 s. There are more replays than a worker has slots for batches.
    const replays: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const answer = await busy.call(`/merchants/me/webhooks/${body.data.id}/replay`, {
        body: { since: '2020-01-01T00:00:00Z', only: 'all' },
      });
      expect(answer.status).toBe(202);
      replays.push(answer.body.data.id);
    }
    await until(async () => (await Promise.all(replays.map(batchOf))).every(({ counts }) => counts.total === 120));
    const sentBefore = receiver.requests.length;
    await until(() => receiver.requests.length > sentBefore + 12);
    const campaign = await aCampaign(other, 3);
    expect(await batchEnd(other, campaign.id)).toMatchObject({ phase: 'completed' });
    // None of the replays has had its 120 s yet.
    for (const { done } of await Promise.all(replays.map(batchOf))) expect(done).toBe(0);
    for (const id of replays) await busy.call(`/merchants/me/batches/${id}/cancel`, { method: 'POST' });
  });
});
