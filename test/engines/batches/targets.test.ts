// The list of targets of a batch: a worker that dies while it creates the list costs one chunk of work, two workers
// list each member once, and a cancelled batch stops at once.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snapshotCampaign, snapshotRebuild } from '../../../activities/batches/campaigns.activity.js';
import { cancelBatch } from '../../../activities/batches/cancelBatch.writes.js';
import { finishBatch } from '../../../activities/batches/finishBatch.activity.js';
import { snapshotReplay } from '../../../activities/batches/replays.activity.js';
import type { WorkerDeps } from '../../../activities/workerDeps.js';
import { updateByIds } from '../../../platform/mongodb/updateMany.js';
import { toChunks } from '../../../platform/toChunks.js';
import type { BatchRow } from '../../../schemas/batches/batches.rows.js';
import type { EventRow } from '../../../schemas/events/events.rows.js';
import { newId } from '../../../schemas/shared/ids.js';
import { batchRow } from '../../rig/start/batchRow.js';
import { aMerchant, manyMembers, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let service: TestService;
let worker: TestWorker;
let deps: WorkerDeps;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: false });
  worker = await startTestWorker(service);
  deps = worker.deps;
  merchant = await aMerchant(service);
});
afterAll(async () => {
  await worker.close();
  await service.stop();
});

type List = typeof snapshotCampaign;

async function aBatch(fields: Partial<BatchRow>): Promise<string> {
  const row = batchRow({ merchantId: merchant.id, kind: 'campaign', phase: 'queued', ...fields });
  await deps.collections.batches.insertOne(row);
  return row._id;
}

const campaign = (programId: string, tags: string[] = []) =>
  aBatch({ programId, campaign: { message: 'Hello', tags } });

/** Calls until the list is complete, as the workflow does. Returns the number of calls. */
async function listAll(by: WorkerDeps, list: List, batchId: string): Promise<number> {
  for (let calls = 1; ; calls += 1) if (!(await list(by, { batchId })).more) return calls;
}

const chunksOf = (batchId: string) => deps.collections.batchTargets.find({ batchId }).sort({ chunk: 1 }).toArray();
const listed = async (batchId: string) => (await chunksOf(batchId)).flatMap(({ ids }) => ids);
const sorted = (ids: readonly string[]) => [...ids].sort();

/** Dependencies whose process dies after it has stored `chunks` chunks. */
function dyingAfter(chunks: number, happens: () => Promise<unknown> = async () => {}): WorkerDeps {
  let left = chunks;
  return {
    ...deps,
    crashPoint(name) {
      if (name !== 'mid-list') return;
      left -= 1;
      if (left === 0) {
        void happens();
        throw new Error('The worker died.');
      }
    },
  };
}

/** Dependencies that count the rows read from a collection. */
function counting(name: 'members' | 'events'): { deps: WorkerDeps; rows: () => number } {
  let rows = 0;
  const wrapped = new Proxy(deps.collections[name] as typeof deps.collections.events, {
    get(collection, property) {
      if (property !== 'find') return Reflect.get(collection, property);
      return (...given: Parameters<typeof collection.find>) =>
        collection.find(...given).map((row) => {
          rows += 1;
          return row;
        });
    },
  });
  return { deps: { ...deps, collections: { ...deps.collections, [name]: wrapped } }, rows: () => rows };
}

async function membersOf(count: number, tags: string[] = []): Promise<{ programId: string; ids: string[] }> {
  const program = await merchant.program();
  const ids: string[] = [];
  for (const some of toChunks(Array.from({ length: count }), 2_000))
    ids.push(...(await manyMembers(deps, { program, count: some.length })).map(({ _id }) => _id));
  if (tags.length > 0) await updateByIds(deps, 'members', { ids, change: { $set: { tags } } });
  return { programId: program._id, ids };
}

async function expectResumed(
  list: List,
  { batchId, ids, before, read }: { batchId: string; ids: string[]; before: number; read: 'members' | 'events' },
) {
  await expect(listAll(dyingAfter(before), list, batchId)).rejects.toThrow('The worker died.');
  const stored = await chunksOf(batchId);
  expect(stored).toHaveLength(before);
  const next = counting(read);
  await listAll(next.deps, list, batchId);
  expect((await chunksOf(batchId)).slice(0, before)).toEqual(stored);
  expect(sorted(await listed(batchId))).toEqual(sorted(ids));
  const done = stored.flatMap((row) => row.ids).length;
  expect(next.rows()).toBeLessThan(ids.length - done + 100);
  expect(await deps.collections.batches.findOne({ _id: batchId })).toMatchObject({
    phase: 'running',
    counts: { total: ids.length },
  });
}

describe('a worker that dies while it lists', () => {
  it('20,000 members for a campaign: the next one continues the list, and each member is listed once', async () => {
    const { programId, ids } = await membersOf(20_000);
    await expectResumed(snapshotCampaign, { batchId: await campaign(programId), ids, before: 60, read: 'members' });
  });

  it('members with a tag: the next one continues the list', async () => {
    const { programId, ids } = await membersOf(2_100, ['vip', 'gold']);
    await membersOf(300, ['vip']);
    const batchId = await campaign(programId, ['gold', 'vip']);
    await expectResumed(snapshotCampaign, { batchId, ids, before: 4, read: 'members' });
  });

  it('members for a rebuild, all of whom joined in the same millisecond: the next one continues the list', async () => {
    const program = await merchant.program();
    const joined = new Date();
    const members = await manyMembers({ ...deps, now: () => joined }, { program, count: 2_100 });
    const ids = members.map(({ _id }) => _id);
    await updateByIds(deps, 'members', { ids, change: { $set: { deviceCount: 1 } } });
    const batchId = await aBatch({ kind: 'passes.rebuild', programId: program._id });
    await expectResumed(snapshotRebuild, { batchId, ids, before: 5, read: 'members' });
  });

  it('events for a replay: the next one continues the list, in the order in which the events happened', async () => {
    const { body } = await merchant.call('/merchants/me/webhooks', {
      body: { url: 'http://127.0.0.1:9/', events: ['member.updated'], enabled: false },
    });
    await deps.collections.subscriptions.updateOne({ _id: body.data.id }, { $set: { enabled: true } });
    const since = Date.now() - 60_000;
    const events = Array.from({ length: 1_700 }, (_, index): EventRow => {
      const occurredAt = new Date(since + Math.floor(index / 3));
      const state = 'published' as const;
      const rest = { data: {}, leaseOwner: '', dueAt: occurredAt, shard: 0 };
      return { _id: newId(), merchantId: merchant.id, type: 'member.updated', occurredAt, state, ...rest } as EventRow;
    });
    for (const some of toChunks(events)) await deps.collections.events.insertMany(some);
    const replay = { since: new Date(since), until: new Date(since + 500), only: 'all' as const };
    const batchId = await aBatch({ kind: 'webhooks.replay', subscriptionId: body.data.id, replay });
    const ids = events.slice(0, 1_500).map(({ _id }) => _id);
    await expect(listAll(dyingAfter(20), snapshotReplay, batchId)).rejects.toThrow('The worker died.');
    const next = counting('events');
    await listAll(next.deps, snapshotReplay, batchId);
    const found = await listed(batchId);
    expect(sorted(found)).toEqual(sorted(ids));
    const times = new Map(events.map(({ _id, occurredAt }) => [_id, occurredAt.getTime()]));
    const order = found.map((id) => times.get(id) ?? 0);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(next.rows()).toBeLessThan(1_100);
  });
});

describe('two workers that list at the same time', () => {
  it('list each member once, also when members join at the same time', async () => {
    const { programId, ids } = await membersOf(3_050);
    const batchId = await campaign(programId);
    const joining = merchant.enroll({ programId });
    await Promise.all([1, 2, 3].map(() => listAll(deps, snapshotCampaign, batchId)));
    const { id } = await joining;
    const batch = await deps.collections.batches.findOne({ _id: batchId });
    const found = await listed(batchId);
    expect(new Set(found).size).toBe(found.length);
    expect(sorted(found.filter((each) => each !== id))).toEqual(sorted(ids));
    expect(batch?.counts.total).toBe(found.length);
    expect(batch?.chunks).toBe((await chunksOf(batchId)).length);
  });
});

describe('a batch that is cancelled while its targets are listed', () => {
  it('stops listing at once, and ends as cancelled with what was listed as its total', async () => {
    const { programId } = await membersOf(3_000);
    const batchId = await campaign(programId);
    let stored = 0;
    let cancelled: Promise<unknown> | undefined;
    const cancelling: WorkerDeps = {
      ...deps,
      crashPoint(name) {
        if (name !== 'mid-list') return;
        stored += 1;
        if (stored === 2) cancelled = merchant.call(`/merchants/me/batches/${batchId}/cancel`, { method: 'POST' });
      },
      collections: {
        ...deps.collections,
        // The request is answered before the next page is read.
        members: new Proxy(deps.collections.members, {
          get(members, property) {
            if (property !== 'find') return Reflect.get(members, property);
            return (...given: Parameters<typeof members.find>) => {
              const cursor = members.find(...given);
              const toArray = cursor.toArray.bind(cursor);
              cursor.toArray = async () => {
                await cancelled;
                return toArray();
              };
              return cursor;
            };
          },
        }),
      },
    };
    expect(await snapshotCampaign(cancelling, { batchId })).not.toHaveProperty('more');
    const total = (await listed(batchId)).length;
    expect(total).toBeLessThan(2_000);
    expect(await finishBatch(deps, { batchId, leaseOwner: 'test' })).toMatchObject({ phase: 'cancelled' });
    expect(await deps.collections.batches.findOne({ _id: batchId })).toMatchObject({ counts: { total } });
  });
});

describe('a batch whose phase changes between a read and a write', () => {
  /** The phase changes once, when `method` of the batches is called. */
  function changing(method: 'findOne' | 'updateOne', batchId: string, phase: BatchRow['phase']): WorkerDeps {
    const { batches } = deps.collections;
    let changed = false;
    const proxied = new Proxy(batches, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== method || changed) return value.bind(target);
        return async (...given: unknown[]) => {
          const read = method === 'findOne' && (await value.apply(target, given));
          changed = true;
          await target.updateOne({ _id: batchId }, { $set: { phase } });
          return method === 'findOne' ? read : value.apply(target, given);
        };
      },
    });
    return { ...deps, collections: { ...deps.collections, batches: proxied } };
  }

  it('ends all the same, with the event of its end', async () => {
    const batchId = await aBatch({ kind: 'members.import', phase: 'creating', chunks: 0 });
    const end = await finishBatch(changing('updateOne', batchId, 'publishing'), { batchId, leaseOwner: 'test' });
    expect(end.phase).toBe('completed');
    expect(await deps.collections.batches.findOne({ _id: batchId })).toMatchObject({ phase: 'completed' });
    expect(await deps.collections.events.findOne({ _id: end.eventId })).toMatchObject({ type: 'batch.completed' });
  });

  it('is not asked to end when it has ended meanwhile', async () => {
    const batchId = await aBatch({ phase: 'running' });
    await cancelBatch(changing('findOne', batchId, 'completed'), { merchantId: merchant.id, batchId });
    expect(await deps.collections.batches.findOne({ _id: batchId })).not.toHaveProperty('cancelRequestedAt');
  });
});

describe('a worker that stops while it lists', () => {
  it('stores what it has read, and the next one continues from there', async () => {
    const { programId, ids } = await membersOf(1_750);
    const batchId = await campaign(programId);
    const stopped = AbortSignal.abort();
    expect(await snapshotCampaign(deps, { batchId, shutdownSignal: stopped })).toMatchObject({
      more: true,
      total: 500,
    });
    const next = counting('members');
    await listAll(next.deps, snapshotCampaign, batchId);
    expect(next.rows()).toBe(1_250);
    expect(sorted(await listed(batchId))).toEqual(sorted(ids));
  });
});
