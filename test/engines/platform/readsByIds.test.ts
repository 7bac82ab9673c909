// Reads of rows by their ids: MongoDB is asked for those of the merchant alone, the embedded engine by id.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchedRead } from '../../../platform/mongodb/batchedRead.js';
import { findByIds } from '../../../platform/mongodb/findByIds.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
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

it.each([true, false])('ask for the merchant where the database can (embedded engine: %s)', async (isEmbedded) => {
  const { collections, config } = dependencies(isEmbedded);
  const filters: unknown[] = [];
  const find = (filter: object) => {
    filters.push(filter);
    return collections.members.find(filter);
  };
  const members = Object.create(collections.members, { find: { value: find } });
  const [merchantId = ''] = merchants;
  const [one = '', other = ''] = ids;
  await findByIds({ collections: { ...collections, members }, config }, 'members', { ids: [one, other], merchantId });
  const read = batchedRead<MemberRow, '_id' | 'merchantId'>(members, ['_id', 'merchantId'], config);
  await Promise.all([one, other].map((_id) => read({ _id, merchantId })));
  const byId = { _id: { $in: [one, other] } };
  expect(filters).toEqual(
    isEmbedded
      ? [byId, byId]
      : [
          { ...byId, merchantId },
          { ...byId, merchantId: { $in: [merchantId] } },
        ],
  );
});
