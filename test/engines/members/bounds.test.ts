// No request reads an amount of data that grows with the merchant: searches that match nearly every member, pages far
// down a list, and tags (docs/interface.md#81-limits).
import type { Filter } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey, revokeApiKey } from '../../../activities/access/apiKeys.writes.js';
import { searchWordRows } from '../../../activities/members/newMember.rules.js';
import { countRecipients } from '../../../api/batches/recipients.reads.js';
import { searchMembers } from '../../../api/members/searchMembers.reads.js';
import { listDeliveries } from '../../../api/webhooks/deliveryLog.reads.js';
import type { Collections, Deps } from '../../../platform/deps.js';
import type { MemberRow, MemberSearchWordRow } from '../../../schemas/members/members.rows.js';
import { newId, newMemberCode } from '../../../schemas/shared/ids.js';
import type { DeliveryRow } from '../../../schemas/webhooks/webhooks.rows.js';
import { merchants } from '../../../stack/commands/merchants.js';
import { runOn } from '../../rig/start/commandLine.js';
import { aMerchant, manyMembers, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const mostRows = 1_000;
const listed = 100;
let service: TestService;

beforeAll(async () => {
  service = await startService({
    worker: false,
    env: {
      SEARCH_MAX_ROWS: String(mostRows),
      LIST_MAX_ROWS: String(listed),
      MERCHANT_MAX_TAGS: '30',
      MERCHANT_MAX_API_KEYS: '12',
    },
  });
});
afterAll(() => service.stop());

describe('a search in a merchant of 12,000 members whose phones begin alike', () => {
  const count = 12_000;
  const merchantId = newId();
  /** Every 400th member. */
  const rare = count / 400;
  /** The filters of all reads of the search index. */
  let filters: Filter<MemberSearchWordRow>[] = [];
  let deps: Deps;

  beforeAll(async () => {
    const { members, memberSearchWords, counters } = service.deps.collections;
    const memberAt = (at: number): MemberRow => {
      const person = { firstName: at % 400 === 0 ? 'Zenobia' : 'Anna', lastName: at % 2 === 0 ? 'Even' : 'Odd' };
      const ids = { _id: newId(), memberCode: newMemberCode(), serialNumber: newId(), merchantId };
      const createdAt = new Date(Date.now() - at * 1_000);
      // Only the reads of a search.
      return { ...ids, ...person, phone: `+48 ${600_000_000 + at}`, pass: { token: newId() }, createdAt } as MemberRow;
    };
    for (let at = 0; at < count; at += 1_000) {
      const rows = Array.from({ length: 1_000 }, (_, index) => memberAt(at + index));
      await members.insertMany(rows);
      await memberSearchWords.insertMany(rows.flatMap(searchWordRows));
    }
    await counters.insertOne({ _id: merchantId, merchantId, members: count });
    const find = (filter: Filter<MemberSearchWordRow>, options: object) => {
      filters.push(filter);
      return memberSearchWords.find(filter, options);
    };
    const watched = { find } as Collections['memberSearchWords'];
    deps = { ...service.deps, collections: { ...service.deps.collections, memberSearchWords: watched } };
  });

  const search = async (q: string, more: object = {}) => {
    filters = [];
    const found = await searchMembers(deps, { merchantId, q, page: 1, pageSize: 25, ...more });
    const counts = filters.map((filter) => service.deps.collections.memberSearchWords.countDocuments(filter));
    const read = (await Promise.all(counts)).reduce((sum, one) => sum + one, 0);
    return { ...found, read };
  };

  it.each(['48', '+48', 'anna', 'a'])(
    'for %s reads a bounded number of rows and finds some of the members, newest first',
    async (q) => {
      const { items, total, read } = await search(q);
      // Levels are random.
      expect(read).toBeLessThan(mostRows * 1.3);
      expect(total).toBeGreaterThan(mostRows / 8);
      expect(total).toBeLessThanOrEqual(read);
      expect(items).toHaveLength(25);
      const times = items.map((member) => member.createdAt.getTime());
      expect(times).toEqual(times.toSorted((a, b) => b - a));
    },
  );

  it('finds all members with a rare word, and reads few other rows', async () => {
    const { items, total, read } = await search('zenob', { pageSize: 100 });
    expect([total, items.length, read]).toEqual([rare, rare, rare]);
  });

  it('finds all members with a rare word and a frequent one', async () => {
    expect(await search('zeno even')).toMatchObject({ total: rare });
    expect(await search('odd zeno')).toMatchObject({ total: 0, items: [] });
    expect(await search('48 zeno')).toMatchObject({ total: rare });
    expect(await search('zeno nobody')).toMatchObject({ total: 0 });
  });

  it('finds members who have two frequent words', async () => {
    const { total, items, read } = await search('anna odd');
    expect(total).toBeGreaterThan(mostRows / 20);
    expect(items.every(({ firstName, lastName }) => firstName === 'Anna' && lastName === 'Odd')).toBe(true);
    expect(read).toBeLessThan(mostRows * 2.6);
  });

  it('delays other merchants no more when 20 callers search at once than when one does', async () => {
    const all = { ...service.deps, config: { ...service.deps.config, SEARCH_MAX_ROWS: count } };
    const searchAll = () => searchMembers(all, { merchantId, q: 'anna', page: 1, pageSize: 25 });
    /** The p95 of another merchant's reads while `work` lasts. */
    const delayedBy = async (work: () => Promise<unknown>): Promise<number> => {
      let ended = false;
      const working = work().finally(() => (ended = true));
      const times: number[] = [];
      while (!ended) {
        const from = performance.now();
        await service.deps.collections.counters.findOne({ _id: 'another' });
        times.push(performance.now() - from);
      }
      await working;
      return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
    };
    await searchAll();
    // Other work on the machine may fall into one of the two measures only.
    let smallest = Number.POSITIVE_INFINITY;
    for (let pair = 0; pair < 3 && smallest >= 4; pair += 1) {
      const one = await delayedBy(async () => {
        for (let time = 0; time < 5; time += 1) await searchAll();
      });
      const twenty = await delayedBy(() => Promise.all(Array.from({ length: 20 }, searchAll)));
      console.log(`  p95 during one search ${one.toFixed(1)} ms, during 20 at once ${twenty.toFixed(1)} ms`);
      smallest = Math.min(smallest, twenty / one);
    }
    expect(smallest).toBeLessThan(4);
  });

  it('finds the same members on each page', async () => {
    const { total } = await search('anna', { pageSize: 100 });
    const ids = new Set<string>();
    for (let page = 1; page <= Math.ceil(total / 100); page += 1)
      for (const { _id } of (await search('anna', { page, pageSize: 100 })).items) ids.add(_id);
    expect(ids.size).toBe(total);
  });

  it('whose words fold to nothing finds nothing', async () => {
    for (const q of ['´', "' ’", '\u200B']) expect(await search(q)).toMatchObject({ items: [], total: 0, read: 0 });
    const [some] = (await search('zenobia')).items;
    expect(await search('´', { serial: some?.memberCode })).toMatchObject({ items: [], total: 0 });
  });

  it('shows pages of the list up to its limit, and refuses those after it', async () => {
    const page = (number: number) => searchMembers(deps, { merchantId, page: number, pageSize: 50 });
    expect(await page(2)).toMatchObject({ total: count, items: { length: 50 } });
    await expect(page(3)).rejects.toMatchObject({ code: 'VALIDATION_FAILED', details: [{ path: 'page' }] });
  });
});

describe('a page far down a list', () => {
  it('is empty where the list is shorter, and a clear 400 where it is not', async () => {
    const merchant = await aMerchant(service);
    const path = (page: number) => `/merchants/me/members?page=${page}&pageSize=100`;
    await merchant.enroll();
    expect((await merchant.call(path(999_999_999))).body.data).toMatchObject({ items: [], total: 1 });
    await service.deps.collections.counters.updateOne({ _id: merchant.id }, { $set: { members: listed } });
    const { status, body } = await merchant.call(path(2));
    expect([status, body.error]).toMatchObject([
      400,
      { code: 'VALIDATION_FAILED', details: [{ path: 'page', message: 'begins after the first 100 items' }] },
    ]);
  });

  it('of the delivery log is refused too, and the log is counted only up to the limit', async () => {
    const merchantId = newId();
    const line = (at: number) =>
      ({ _id: newId(), merchantId, eventId: newId(), createdAt: new Date(at) }) as DeliveryRow;
    await service.deps.collections.deliveries.insertMany(Array.from({ length: listed + 20 }, (_, at) => line(at)));
    const page = (number: number) => listDeliveries(service.deps, { merchantId, page: number, pageSize: 50 });
    expect(await page(2)).toMatchObject({ total: listed, items: { length: 50 } });
    await expect(page(3)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });
});

it('the members that a campaign would reach are counted up to a limit', async () => {
  const merchant = await aMerchant(service);
  const program = await merchant.program();
  await manyMembers(service.deps, { program, count: listed + 20 });
  const { body } = await merchant.call('/merchants/me/campaigns', { body: { dryRun: true } });
  expect(body.data).toEqual({ dryRun: true, matched: listed, reachable: 0, complete: false });
  const deps = { ...service.deps, countRows: async () => undefined };
  const given = { merchantId: merchant.id, programId: undefined, tags: [] };
  expect(await countRecipients(deps, given)).toEqual({ matched: 0, reachable: 0, complete: false });
});

it('the API keys of a merchant are limited across users, and ended keys count', async () => {
  const { deps } = service;
  const merchantId = newId();
  const create = (createdBy: string) =>
    createApiKey(deps, { merchantId, createdBy, name: 'Till', roleIds: ['viewer'], checkGrant: () => {} });
  const made = await Promise.allSettled(Array.from({ length: 14 }, (_, at) => create(`user ${at % 7}`)));
  const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused.map(({ code, message }) => [code, message.includes('MERCHANT_MAX_API_KEYS')])).toEqual(
    Array(2).fill(['API_KEY_LIMIT_REACHED', true]),
  );
  const [some] = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.row] : []));
  await revokeApiKey(deps, { merchantId, id: some?._id ?? '' });
  await expect(create('another')).rejects.toMatchObject({ code: 'API_KEY_LIMIT_REACHED' });
});

describe('the tags of a merchant', () => {
  const tags = (merchant: TestMerchant, memberId: string, names: string[]) =>
    merchant.call(`/merchants/me/members/${memberId}/tags`, { body: { tags: names } });
  const names = (from: number, count: number) => Array.from({ length: count }, (_, at) => `tag ${from + at}`);
  const listOf = async (merchant: TestMerchant): Promise<string[]> =>
    (await merchant.call('/merchants/me/members/tags')).body.data.tags;

  it('are limited, and beyond the limit nothing changes', async () => {
    const merchant = await aMerchant(service);
    const [one, other] = [await merchant.enroll(), await merchant.enroll()];
    expect((await tags(merchant, one.id, names(0, 25))).status).toBe(200);
    const { status, body } = await tags(merchant, other.id, names(20, 11));
    expect([status, body.error]).toMatchObject([
      400,
      { code: 'TAG_LIMIT_EXCEEDED', details: { limit: 'MERCHANT_MAX_TAGS', max: 30 } },
    ]);
    expect(await listOf(merchant)).toHaveLength(25);
    expect((await tags(merchant, other.id, [...names(20, 10), 'tag 20'])).status).toBe(200);
    expect(await listOf(merchant)).toHaveLength(30);
    expect((await runOn(service, merchants, `limit ${merchant.id} --tags 31`.split(' '))).code).toBe(0);
    expect((await tags(merchant, other.id, ['one more'])).status).toBe(200);
  });

  it('never exceed the limit, also when they are added at the same time', async () => {
    const merchant = await aMerchant(service);
    const members = await Promise.all(Array.from({ length: 6 }, () => merchant.enroll()));
    const answers = await Promise.all(members.map(({ id }, at) => tags(merchant, id, names(at * 10, 10))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 400, 400, 400]);
    expect(await listOf(merchant)).toHaveLength(30);
  });

  it('of a refused request are not stored', async () => {
    const merchant = await aMerchant(service);
    const member = await merchant.enroll();
    await tags(merchant, member.id, names(0, 25));
    expect((await tags(merchant, member.id, ['beyond'])).body.error.code).toBe('TAG_LIMIT_EXCEEDED');
    expect((await tags(merchant, newId(), ['nobody'])).status).toBe(404);
    expect(await listOf(merchant)).toHaveLength(25);
  });
});
