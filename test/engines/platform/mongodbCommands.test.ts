// What MongoDB 8 would refuse (test/rig/mongodb/rules.ts) is found in what the driver sends.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchedRead } from '../../../platform/mongodb/batchedRead.js';
import { inTransaction } from '../../../platform/mongodb/inTransaction.js';
import { update } from '../../../platform/mongodb/statements.js';
import { transact } from '../../../platform/mongodb/transact.js';
import { askedOf } from '../../rig/checks/queries.js';
import { expectTakenByMongodb, takeRefused } from '../../rig/mongodb/sentCommands.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: false });
});
afterAll(() => service.stop());

/** Why MongoDB would refuse what `send` sends; what the engine answers does not matter. */
async function refusedOf(send: () => Promise<unknown>): Promise<string> {
  takeRefused();
  await send().catch(() => undefined);
  return takeRefused().join('\n');
}

it('MongoDB 8 would take the commands of the migration and of a change', async () => {
  expect(takeRefused()).toEqual([]);
  const { roles } = service.deps.collections;
  const change = () =>
    transact(service.deps, [update(service.deps, 'roles', { _id: 'one' }, { $set: { name: 'a' } }, true)], 1);
  expect(await refusedOf(change)).toBe('');
  expect(await roles.findOne({ _id: 'one' })).toMatchObject({ name: 'a' });
});

it('a command that MongoDB refuses is found, with the line that sent it', async () => {
  const { deps } = service;
  const { roles } = deps.collections;
  expect(await refusedOf(() => roles.findOne({ $where: 'true' }))).toMatch(
    /^the filter has the operator \$where \(test\/engines\/platform\/mongodbCommands\.test\.ts:\d+/,
  );
  const indexes = [{ key: { a: 1 }, name: 'a', fast: true }];
  expect(await refusedOf(() => deps.mongo.db().command({ createIndexes: 'roles', indexes }))).toContain(
    'an index with the option fast',
  );
  const build = () => inTransaction(deps, async (session) => void (await roles.createIndex({ a: 1 }, { session })));
  expect(await refusedOf(build)).toContain('createIndexes in a transaction');
  const twice = update(deps, 'roles', { _id: 'one' }, { $set: { a: 1, 'a.b': 1 } });
  expect(await refusedOf(() => transact(deps, [twice], 1))).toContain('an update of a.b and a');
});

it('a command of the service that MongoDB refuses fails its test when the service stops', async () => {
  takeRefused();
  // The test is not among the senders of a batched read.
  const read = batchedRead(service.deps.collections.roles, ['name'], service.deps.config);
  await read(JSON.parse('{"name":{"$is":1}}')).catch(() => undefined);
  // The engine could not explain this query either.
  askedOf(service.deps.config.MONGODB_DATABASE).clear();
  expect(expectTakenByMongodb).toThrow(/name has the operator \$is \(/);
  await service.deps.collections.roles.findOne({ $where: 'true' }).catch(() => undefined);
  expect(expectTakenByMongodb).not.toThrow();
});

it('the engine has the limits of MongoDB, by which the driver divides what it sends', async () => {
  const hello = await service.deps.mongo.db().command({ hello: 1 });
  const limits = { maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 };
  expect(hello).toMatchObject(limits);
});
