// A worker starts the workflows of due work, each only when something is due, and again when one was ended.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Wallets } from '../../../activities/wallets/wallets.client.js';
import { relayEvents } from '../../../activities/webhooks/relayEvents.activity.js';
import type { WorkerDeps } from '../../../activities/workerDeps.js';
import type { StartWorkflow } from '../../../platform/temporal/workflowClient.js';
import { newId } from '../../../schemas/shared/ids.js';
import type { CollectionName } from '../../../schemas/tables/collections.js';
import type { WorkflowName } from '../../../schemas/tables/workflows.js';
import { dutiesOf, watchDuties } from '../../../worker/duties.js';
import { until } from '../../rig/checks/until.js';
import { aMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let service: TestService;
let worker: TestWorker;
let deps: WorkerDeps;
const shards = 2;
const secondMs = 1_000;
const ago = (ms: number) => new Date(Date.now() - ms);

beforeAll(async () => {
  service = await startService({
    worker: false,
    env: { RELAY_SHARDS: String(shards), CHANGE_WORKFLOWS_PER_SECOND: '0' },
  });
  worker = await startTestWorker(service);
  const wallets = { apple: {}, google: {} } as Wallets;
  deps = { ...worker.deps, wallets, walletModes: { apple: 'real', google: 'real' } };
});
afterAll(async () => {
  await worker.close();
  await service.stop();
});

/** The workflows that have something to do. */
async function due(): Promise<string[]> {
  const found = new Set<string>();
  for (const { id, isDue } of dutiesOf(deps)) if (await isDue(deps)) found.add(id);
  return [...found];
}

/** Rows here have only the fields that matter. */
const rowsOf = (name: CollectionName) =>
  deps.mongo.db(deps.config.MONGODB_DATABASE).collection<{ _id: string; [field: string]: unknown }>(name);

type Row = { in: CollectionName } & Record<string, unknown>;
const event = (over: Record<string, unknown>): Row => ({
  ...{ in: 'events', state: 'new', shard: 1, leaseOwner: 'somebody', dueAt: ago(-60 * secondMs) },
  ...over,
});

describe('a duty', () => {
  const stored: { in: CollectionName; _id: string }[] = [];
  afterEach(async () => {
    for (const { in: name, _id } of stored.splice(0)) await rowsOf(name).deleteOne({ _id });
  });

  it.each<[string, string[], Row]>([
    ['a due event', ['relay:1'], event({ dueAt: ago(1) })],
    ['an event that an ended relay has leased', ['relay:1'], event({ leaseOwner: 'relay:1:run.1.1' })],
    ['an event from before the clock was set back', ['relay:1'], event({ dueAt: ago(-3_600 * secondMs) })],
    ['an event of a shard that was removed', ['relay:0'], event({ shard: 7 })],
    ['a queue of deliveries', ['relay:1'], { in: 'waitingSubscriptions', shard: 1 }],
    ['a queue of a shard that was removed', ['relay:0'], { in: 'waitingSubscriptions', shard: shards }],
    ['a lot that is over', ['expire-points'], { in: 'members', merchantId: 'm', expiry: { slice: 63, at: ago(1) } }],
    ['members without lots', ['expire-points'], { in: 'expiries', next: 0, since: ago(60 * secondMs) }],
    ['a lost delivery', ['revive-work'], { in: 'deliveries', dueGroup: 'own-workflow:m', dueAt: ago(1) }],
    ['a lost push', ['revive-work'], { in: 'events', state: 'published', shard: 0, pushDueAt: ago(1) }],
    ['a lost pass', ['revive-work'], { in: 'members', merchantId: 'm', pass: { issueDueAt: ago(1) } }],
    ['a lost mail', ['revive-work'], { in: 'mails', dueAt: ago(1) }],
    ['a lost erasure', ['revive-work'], { in: 'erasures', dueAt: ago(1) }],
    ['a lost batch', ['revive-work'], { in: 'batches', phase: 'creating', startedAt: ago(60 * secondMs) }],
    ['passes of an import', ['revive-work'], { in: 'batches', phase: 'completed', unissued: true }],
    ['an upload', ['remove-batch-rows'], { in: 'batches', phase: 'storing' }],
    ['rows of an ended batch', ['remove-batch-rows'], { in: 'batches', phase: 'completed', rowsUntil: ago(1) }],
    ['a phone that did not fetch', ['repush'], { in: 'devices', recheckAt: ago(1) }],
    ['a phone that was not pushed to', ['repush'], { in: 'members', merchantId: 'm', pass: { appleDueAt: ago(1) } }],
    ['a removal that was not reported', ['repush'], { in: 'removals', reportAt: ago(1) }],
    ['a changed program', ['update-classes'], { in: 'classUpdates' }],
    ['an object behind', ['follow-google'], { in: 'members', merchantId: 'm', pass: { googleDueAt: ago(1) } }],
    ['an object to clear', ['follow-google'], { in: 'googleClears', dueAt: ago(1) }],
  ])('is found by %s', async (_what, expected, { in: name, ...row }) => {
    expect(await due()).toEqual([]);
    const later = Object.entries(row).flatMap(([key, value]) =>
      value instanceof Date ? [[key, ago(-60 * secondMs)]] : [],
    );
    const _id = newId();
    stored.push({ in: name, _id });
    await rowsOf(name).insertOne({ _id, ...row });
    expect(await due()).toEqual(expected);
    if (name === 'batches' || later.length === 0 || row.state === 'new') return;
    await rowsOf(name).updateOne({ _id }, { $set: Object.fromEntries(later) });
    expect(await due()).toEqual([]);
  });

  it('is not due for a wallet in stub mode, which nothing is sent to', async () => {
    const stub = { ...deps, walletModes: { apple: 'stub', google: 'stub' } as const };
    const _id = newId();
    stored.push({ in: 'members', _id });
    const pass = { googleDueAt: ago(1), appleDueAt: ago(1) };
    await rowsOf('members').insertOne({ _id, merchantId: 'm', pass });
    for (const { id, isDue } of dutiesOf(stub)) expect([id, await isDue(stub)]).toEqual([id, false]);
  });
});

describe('watching', () => {
  it('starts what is due, goes on after a look that failed, and ends with its signal', async () => {
    const starts: string[] = [];
    const workflowClient = {
      ...deps.workflowClient,
      available: () => true,
      start: async ({ workflowId }: StartWorkflow<WorkflowName>) => void starts.push(workflowId),
    };
    const given = { name: 'reviveWork', input: {}, summary: 'for a test', every: 50 } as const;
    let looks = 0;
    const duties = [
      { ...given, id: 'never', isDue: async () => false },
      {
        ...given,
        id: 'third',
        isDue: async () => {
          looks += 1;
          if (looks < 3) throw new Error('MongoDB is away.');
          return looks === 3;
        },
      },
    ];
    const end = new AbortController();
    const watched = watchDuties({ ...deps, workflowClient }, { duties, signal: end.signal });
    await until(() => looks > 5);
    end.abort();
    await watched;
    expect(starts).toEqual(['third']);
  });
});

describe('the relay', () => {
  it('ends when nothing was due for a while', async () => {
    const never = new AbortController().signal;
    const ended = await relayEvents(deps, {
      ...{ shard: 1, activityAttemptId: newId(), signal: never, cancellationSignal: never, heartbeat: () => {} },
      ...{ forMs: 60_000, idleEndMs: 300 },
    });
    expect(ended).toEqual({ relayed: 0, idle: true });
  });

  it('runs again for an event after it was terminated', async () => {
    await service.startWorker();
    const merchant = await aMerchant(service);
    const { id: memberId } = await merchant.enroll();
    const { events } = service.deps.collections;
    const relayed = () => until(async () => (await events.countDocuments({ memberId, state: 'new' })) === 0);
    await relayed();
    const shard = (await events.findOne({ memberId }))?.shard;
    await service.client.workflow.getHandle(`relay:${shard}`).terminate('by a test');
    await merchant.call(`/merchants/me/members/${memberId}/points`, { method: 'PATCH', body: { delta: 1 } });
    expect(await events.countDocuments({ memberId, type: 'points.changed' })).toBe(1);
    await relayed();
  });
});
