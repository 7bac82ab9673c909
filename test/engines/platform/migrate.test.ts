// The migration of a database that another version of the service left behind: indexes with other options, indexes that
// are not wanted any more, and statements that take longer than the client usually waits.
import { MongoClient, MongoServerError } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import { collectionNames, indexes } from '../../../schemas/tables/collections.js';
import { migrate } from '../../../worker/migrate.js';
import { findIndexes, planIndexes } from '../../../worker/reconcileIndexes.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: false });
});
afterAll(() => service.stop());
beforeEach(() => migrate(service.deps));

/** The collections whose indexes are not the declared ones. */
async function different(): Promise<string[]> {
  const found = await findIndexes(service.deps);
  return collectionNames.filter((name) =>
    Object.values(planIndexes(indexes[name], found[name])).some((steps) => steps.length > 0),
  );
}

const archiveIndex = async () =>
  (await service.deps.collections.events.indexes()).find(({ key }) => Object.keys(key).join() === 'occurredAt');

/** Gives events another expiry, under another name. Returns the declared one. */
async function expireSoon(): Promise<number | undefined> {
  const { events } = service.deps.collections;
  const declared = await archiveIndex();
  await events.dropIndex(String(declared?.name));
  await events.createIndex({ occurredAt: 1 }, { expireAfterSeconds: 5_000, name: `by hand ${newId()}` });
  return declared?.expireAfterSeconds;
}

it('a fresh database has the declared indexes and no others', async () => {
  expect(await different()).toEqual([]);
});

it('an index with another expiry, other options or another name becomes the declared one', async () => {
  const { members, mails, nonces } = service.deps.collections;
  const before = await expireSoon();
  await nonces.dropIndex('receivedAt_1');
  await nonces.createIndex({ receivedAt: 1 });
  await members.dropIndex('serialNumber_1');
  await members.createIndex({ serialNumber: 1 });
  await mails.dropIndex('memberId_1');
  await mails.createIndex({ memberId: 1 }, { unique: true });
  expect((await different()).length).toBeGreaterThan(3);

  await migrate(service.deps);
  expect(await different()).toEqual([]);
  expect((await archiveIndex())?.expireAfterSeconds).toBe(before);
});

it('an index that is not wanted any more is dropped, and foreign collections keep theirs', async () => {
  const { tags } = service.deps.collections;
  const foreign = service.deps.mongo.db(service.deps.config.MONGODB_DATABASE).collection('analytics');
  await tags.createIndex({ retired: 1 }, { unique: true });
  await foreign.createIndex({ retired: 1 }, { unique: true });
  await tags.insertOne({ _id: 'first', merchantId: 'm', tag: 'first' });
  const second = () => tags.insertOne({ _id: 'second', merchantId: 'm', tag: 'second' });
  await expect(second()).rejects.toThrow('duplicate key');

  await migrate(service.deps);
  await second();
  expect((await foreign.indexes()).map(({ name }) => name)).toContain('retired_1');
});

it('rows that violate a unique index end the migration, and the old index stays', async () => {
  const { apiKeys } = service.deps.collections;
  await apiKeys.dropIndex('hash_1');
  await apiKeys.createIndex({ hash: 1 }, { name: 'hash_1' });
  const { insertedIds } = await apiKeys.insertMany(
    ['a', 'b'].map((_id) => ({
      ...{ _id, merchantId: 'm', hash: 'the same', keyPrefix: 'lps_', name: _id, roleIds: [] },
      ...{ createdBy: 'test', createdAt: new Date() },
    })),
  );
  await expect(migrate(service.deps)).rejects.toThrow('duplicate key');
  expect((await apiKeys.indexes()).map(({ name }) => name)).toContain('hash_1');
  for (const _id of Object.values(insertedIds)) await apiKeys.deleteOne({ _id });
});

it('several processes migrate at the same time', async () => {
  const { ledger } = service.deps.collections;
  await expireSoon();
  await ledger.createIndex({ retired: 1 });
  await ledger.dropIndex('memberId_1_memberVersion_-1');
  await ledger.createIndex({ memberId: 1, memberVersion: -1 });
  await Promise.all([1, 2, 3, 4].map(() => migrate(service.deps)));
  expect(await different()).toEqual([]);
});

it('a user of MongoDB who may not change indexes has them rebuilt', async () => {
  const before = await expireSoon();
  const database = Object.getPrototypeOf(service.deps.mongo.db('any'));
  const command = vi.spyOn(database, 'command').mockImplementation(async () => {
    throw new MongoServerError({ message: 'not authorized', code: 13, codeName: 'Unauthorized' });
  });
  try {
    await migrate(service.deps);
    expect(command).toHaveBeenCalled();
  } finally {
    command.mockRestore();
  }
  expect((await archiveIndex())?.expireAfterSeconds).toBe(before);
  expect(await different()).toEqual([]);
});

it('the time limit of a client does not end the build of an index', async () => {
  const { config, collections } = service.deps;
  // Statements of other clients to this address end after 5 ms.
  const hasty = { ...config, MONGODB_URI: `${config.MONGODB_URI}&socketTimeoutMS=5` };
  const client = new MongoClient(hasty.MONGODB_URI);
  const stats = client.db(config.MONGODB_DATABASE).collection('stats');
  await collections.stats.insertMany(
    Array.from({ length: 10_000 }, () => ({ _id: newId(), merchantId: newId(), programId: '', month: '2026-11' })),
  );
  await expect(stats.createIndex({ programId: 1, merchantId: 1, month: 1 })).rejects.toThrow('timed out');
  await client.close();

  await collections.stats.dropIndex('merchantId_1_month_1');
  await migrate({ ...service.deps, config: hasty });
  expect(await different()).toEqual([]);
});
