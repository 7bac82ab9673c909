// A state that somebody else changes between the read of a decision and its write: the write names the state that it
// leaves, so it changes nothing, or is decided again.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { finishImport } from '../../../activities/batches/imports/finishImport.activity.js';
import { eraseMember } from '../../../activities/persons/eraseMember.writes.js';
import { removeTraces } from '../../../activities/persons/removeTraces.activity.js';
import { publishProgram } from '../../../activities/programs/publishPrograms.writes.js';
import { newDelivery } from '../../../activities/webhooks/newDelivery.rules.js';
import { updateSubscription } from '../../../activities/webhooks/subscriptions.writes.js';
import type { Deps } from '../../../platform/deps.js';
import { newId } from '../../../schemas/shared/ids.js';
import { batchRow } from '../../rig/start/batchRow.js';
import { aDesigner } from '../../rig/start/designer.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let service: TestService;
let worker: TestWorker;
let merchant: TestMerchant;
let webhookId: string;

beforeAll(async () => {
  service = await startService({ worker: false });
  worker = await startTestWorker(service);
  merchant = await aMerchant(service);
  const body = { url: 'http://127.0.0.1:9/hook', events: ['points.changed'] };
  webhookId = (await merchant.call('/merchants/me/webhooks', { body })).body.data.id;
});
afterAll(async () => {
  await worker.close();
  await service.stop();
});

/** The rows, where `meanwhile` follows each read of several rows, or precedes each change of one. */
function during<Rows extends object>(
  rows: Rows,
  method: 'find' | 'updateOne',
  meanwhile: () => Promise<unknown>,
): Rows {
  return new Proxy(rows, {
    get(target, property) {
      const real: unknown = Reflect.get(target, property);
      if (typeof real !== 'function') return real;
      if (property !== method) return real.bind(target);
      if (method === 'find')
        return (...given: unknown[]) => {
          const found = async function* () {
            yield* real.apply(target, given);
            await meanwhile();
          };
          const toArray = async () => {
            const all: unknown[] = [];
            for await (const row of found()) all.push(row);
            return all;
          };
          return Object.assign(found(), { toArray });
        };
      return async (...given: unknown[]) => {
        await meanwhile();
        return real.apply(target, given);
      };
    },
  });
}

it('a subscription that fails too long while its owner enables it is enabled again, without a trace of the failure', async () => {
  const { subscriptions } = service.deps.collections;
  let isDisabled = false;
  const groupCommit: Deps['groupCommit'] = async (transaction) => {
    const health = {
      failingSince: new Date(0),
      consecutiveFailures: 9,
      lastSuccessAt: null,
      disabledReason: 'failing',
    } as const;
    if (!isDisabled) await subscriptions.updateOne({ _id: webhookId }, { $set: { enabled: false, health } });
    isDisabled = true;
    return service.deps.groupCommit(transaction);
  };
  const change = { merchantId: merchant.id, id: webhookId, patch: { enabled: true } };
  const { enabled, health } = await updateSubscription({ ...worker.deps, groupCommit }, change);
  expect([isDisabled, enabled, health]).toEqual([
    true,
    true,
    { failingSince: null, consecutiveFailures: 0, lastSuccessAt: null },
  ]);
});

it('a delivery that succeeds while its member is being erased stays a success', async () => {
  const { deliveries, events, subscriptions } = service.deps.collections;
  const { id: memberId } = await merchant.enroll();
  const [event, subscription] = await Promise.all([
    events.findOne({ memberId }),
    subscriptions.findOne({ _id: webhookId }),
  ]);
  if (!event || !subscription) throw new Error('There is no event or subscription.');
  const delivery = newDelivery(service.deps, { event, subscription, id: newId() });
  await deliveries.insertOne(delivery);
  await eraseMember(service.deps, { merchantId: merchant.id, memberId });
  const succeeding = during(deliveries, 'find', () =>
    deliveries.updateOne({ _id: delivery._id }, { $set: { state: 'succeeded' } }),
  );
  const collections = { ...worker.deps.collections, deliveries: succeeding };
  await removeTraces({ ...worker.deps, collections }, { memberId });
  expect(await deliveries.findOne({ _id: delivery._id })).toMatchObject({ state: 'succeeded' });
});

it('an import that another run ends while its rows are being counted keeps the counts of its end', async () => {
  const { batches } = service.deps.collections;
  const row = batchRow({
    ...{ merchantId: merchant.id, kind: 'members.import', phase: 'publishing' },
    ...{ chunks: 1, done: 3, counts: { total: 3, created: 2, deduped: 1, failed: 0 } },
  });
  await batches.insertOne(row);
  // Its chunks are gone already, so that counting them would find nothing.
  const ended = during(batches, 'updateOne', () =>
    batches.updateOne({ _id: row._id }, { $set: { phase: 'completed', finishedAt: service.deps.now() } }),
  );
  const collections = { ...worker.deps.collections, batches: ended };
  expect(await finishImport({ ...worker.deps, collections }, { batchId: row._id })).toMatchObject({
    phase: 'completed',
  });
  expect(await batches.findOne({ _id: row._id })).toMatchObject({ counts: row.counts });
});

it('a given-up address that its program takes back while another program takes it stays with the first', async () => {
  const { slugs } = service.deps.collections;
  const designer = await aDesigner(merchant);
  const [first, second] = [await merchant.program(), await merchant.program()];
  await designer.edit(first._id, { slug: `${first.slug}-2` });
  expect((await designer.publish(first._id)).status).toBe(200);
  for (const { _id } of [first, second]) expect((await designer.edit(_id, { slug: first.slug })).status).toBe(200);
  let isTakenBack = false;
  const takenBack = during(slugs, 'find', async () => {
    if (isTakenBack) return;
    isTakenBack = true;
    expect((await designer.publish(first._id)).status).toBe(200);
  });
  const collections = { ...service.deps.collections, slugs: takenBack };
  const actor = { type: 'user', id: 'tester' } as const;
  const at = { merchantId: merchant.id, programId: second._id, actor, version: undefined };
  await expect(publishProgram({ ...service.deps, collections }, at)).rejects.toMatchObject({ code: 'SLUG_TAKEN' });
  expect(isTakenBack).toBe(true);
  const { _id, merchantId } = { _id: first.slug, merchantId: merchant.id };
  expect(await slugs.findOne({ _id })).toEqual({ _id, merchantId, programId: first._id });
});
