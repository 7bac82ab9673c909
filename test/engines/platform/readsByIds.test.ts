// Reads of rows by their ids: MongoDB is asked for those of the merchant alone, the embedded engine by id.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchedRead } from '../../../platform/mongodb/batchedRead.js';
import { findByIds } from '../../../platform/mongodb/findByIds.js';
import { askedOf } from '../../rig/checks/queries.js';
import { aMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let ids: string[];
const merchants: string[] = [];

beforeAll(async () => {
  service = await startService();
  const own = await aMerchant(service);
  const other = await aMerchant(service);
  merchants.push(own.id, other.id);
  ids = (await Promise.all([own.enroll({}), own.enroll({}), other.enroll({})])).map(({ id }) => id);
});
afterAll(() => service.stop());

const dependencies = (isEmbedded: boolean) => ({
  collections: service.deps.collections,
  config: { ...service.deps.config, MONGODB_EMBEDDED: isEmbedded },
});

const shapes = () => [...askedOf(service.deps.config.MONGODB_DATABASE).keys()].filter((key) => key.includes('"$in"'));

it.each([true, false])('give each merchant its own rows (embedded engine: %s)', async (isEmbedded) => {
  const deps = dependencies(isEmbedded);
  const read = batchedRead(deps.collections.members, ['_id', 'merchantId'], deps.config);
  for (const merchantId of merchants) {
    const found = await findByIds(deps, 'members', { ids, merchantId });
    const one = await Promise.all(ids.map((_id) => read({ _id, merchantId })));
    const own = merchantId === merchants[0] ? ids.slice(0, 2) : ids.slice(2);
    expect(found.map(({ _id }) => _id).toSorted()).toEqual(own.toSorted());
    expect(one.flatMap((row) => row?._id ?? []).toSorted()).toEqual(own.toSorted());
  }
});

it('have the merchant in their filter on MongoDB', async () => {
  const { collections, config } = dependencies(false);
  const [merchantId = ''] = merchants;
  await expect
    .poll(async () => {
      await findByIds({ collections, config }, 'members', { ids, merchantId });
      return shapes();
    })
    .toContain('members {"_id":{"$in":["\\"?\\""]},"merchantId":"?"}');
});
