// "Back up and restore" of docs/operating.md, with a copy of the documents in place of a dump: changes that the
// restored data lacks can be made again, changes that it has are not applied twice, and unpublished events are
// published.
import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collectionNames } from '../../../schemas/tables/collections.js';
import { migrate } from '../../../worker/migrate.js';
import { until } from '../../rig/checks/until.js';
import { failThenOk } from '../../rig/standins/responders.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['points.changed'], { retryPolicy: { maxAttempts: 8, backoffMs: 100 } });
  ({ service, merchant } = subscribed);
});
afterAll(() => subscribed.stop());

const eventsOf = (delta: number) => subscribed.envelopes().filter(({ data }) => data.delta === delta);
const bytesOf = (delta: number) =>
  subscribed.receiver.requests
    .map(({ body }) => body.toString('utf8'))
    .filter((text) => JSON.parse(text).data.delta === delta);

async function backUp(): Promise<Map<string, Document[]>> {
  const documents = new Map<string, Document[]>();
  for (const name of collectionNames) documents.set(name, await service.deps.collections[name].find().toArray());
  return documents;
}

async function restore(documents: ReadonlyMap<string, Document[]>): Promise<void> {
  const database = service.deps.mongo.db(service.deps.config.MONGODB_DATABASE);
  for (const name of collectionNames) {
    await database.dropCollection(name);
    const rows = documents.get(name) ?? [];
    if (rows.length > 0) await database.collection(name).insertMany(rows);
  }
  await migrate(service.deps);
}

it('an event that is published again after a restore is delivered, also when its delivery needed a retry both times', async () => {
  const { id } = await merchant.enroll({ firstName: 'Grace' });
  const documents = await backUp();
  const award = () =>
    merchant.call(`/merchants/me/members/${id}/points`, {
      method: 'PATCH',
      headers: { 'Idempotency-Key': 'restore-retried' },
      body: { delta: 13 },
    });
  const deliveredAfterRetry = async () => {
    const before = eventsOf(13).length;
    subscribed.receiver.setResponder(failThenOk(1));
    await award();
    await until(() => eventsOf(13).length === before + 2);
    const done = await until(() =>
      service.deps.collections.deliveries.findOne({ eventType: 'points.changed', attempts: 2, state: 'succeeded' }),
    );
    await until(
      async () =>
        (await service.client.workflow.getHandle(`delivery:${done.eventId}:${done.subscriptionId}`).describe()).status
          .name === 'COMPLETED',
    );
    return done.eventId;
  };
  const first = await deliveredAfterRetry();
  await service.stopWorker();
  await restore(documents);
  await service.startWorker();
  expect(await deliveredAfterRetry()).toBe(first);
});

it('the service continues from the backup: known changes are not applied twice, lost ones can be made again', async () => {
  const { id } = await merchant.enroll({ firstName: 'Ada' });
  const path = `/merchants/me/members/${id}/points`;
  const award = (key: string, delta: number) =>
    merchant.call(path, { method: 'PATCH', headers: { 'Idempotency-Key': `restore-${key}` }, body: { delta } });
  await award('before', 5);
  await until(() => eventsOf(5).length === 1);
  await service.stopWorker();
  await award('untold', 7);
  const documents = await backUp();
  await service.startWorker();
  await until(() => eventsOf(7).length === 1);
  await award('after', 11);
  await until(() => eventsOf(11).length === 1);
  await service.stopWorker();

  await restore(documents);
  await service.startWorker();

  const [first, again] = await until(() => bytesOf(7).length === 2 && bytesOf(7));
  expect(again).toBe(first);
  const member = await merchant.call(`/merchants/me/members/${id}`);
  expect(member.body.data.fieldValues.points).toBe(12);
  const known = await award('before', 5);
  expect(known.headers.get('Idempotent-Replayed')).toBe('true');
  // Temporal still has the workflow of this change and starts no second one, so the relay publishes the event.
  const anew = await award('after', 11);
  expect(anew.body.data).toMatchObject({ previous: 12, current: 23 });
  const [lost, repeated] = await until(() => eventsOf(11).length === 2 && eventsOf(11));
  expect(repeated?.eventId).toBe(lost?.eventId);
  expect(eventsOf(5)).toHaveLength(1);
});
