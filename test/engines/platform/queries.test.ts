// The checks that every test file makes of the queries of its service: none scans a collection or has `_id` late.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchedRead } from '../../../platform/mongodb/batchedRead.js';
import { askedOf } from '../../rig/checks/queries.js';
import { expectNoScans } from '../../rig/checks/scans.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: false });
});
afterAll(() => service.stop());

const check = () => {
  const { mongo, config } = service.deps;
  return expectNoScans(mongo.db(config.MONGODB_DATABASE));
};

it('a query of the service without an index fails it, with its fields and its line', async () => {
  const { roles } = service.deps.collections;
  const read = batchedRead(roles, ['name'], service.deps.config);
  const found = async () => {
    await read({ name: 'of a batch' });
    const asked = [...askedOf(service.deps.config.MONGODB_DATABASE)].map(([key, { from }]) => `${key} ${from}`);
    return check().then(() => `nothing of ${asked.join('; ')}`, String);
  };
  // The driver loses the line of a query that waits for a connection.
  await expect.poll(found).toMatch(/roles \{"name":"\?"\} limit \(platform\/mongodb\/batchedRead\.ts:\d+/);
});

it('a query whose filter has _id after another field fails at once', async () => {
  const { roles } = service.deps.collections;
  await expect(roles.findOne({ merchantId: null, _id: 'one' })).rejects.toThrow('_id is not the first field');
});

it('a query of a test may scan', async () => {
  await service.deps.collections.roles.findOne({ name: 'of a test', merchantId: null });
  await expect(check()).resolves.toBeUndefined();
});

it('a query that an index answers passes', async () => {
  const { roles } = service.deps.collections;
  await batchedRead(roles, ['merchantId', 'name'], service.deps.config)({ merchantId: 'none', name: 'of an index' });
  await expect(check()).resolves.toBeUndefined();
});
