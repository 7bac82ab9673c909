// The recount corrects totals and tags that a crash left wrong, during enrollments.
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { recountMerchants } from '../../../activities/members/recount.activity.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const totalOf = async (merchant: TestMerchant, query = '') =>
  (await merchant.call(`/merchants/me/members?pageSize=1${query}`)).body.data.total;
const tagsOf = async (merchant: TestMerchant) => (await merchant.call('/merchants/me/members/tags')).body.data.tags;

/** Recounts all merchants of this file's database. */
async function recount(): Promise<number> {
  let repaired = 0;
  let after: string | undefined;
  do {
    const done = await recountMerchants(service.deps, { ...(after && { after }) }, { waitMs: 300 });
    repaired += done.repaired;
    after = done.next;
  } while (after);
  return repaired;
}

describe('the recount', () => {
  it('changes nothing when all totals are correct', async () => {
    const merchant = await aMerchant(service);
    const member = await merchant.enroll();
    await merchant.call(`/merchants/me/members/${member.id}/tags`, { body: { tags: ['vip'] } });
    expect(await recount()).toBe(0);
    expect(await totalOf(merchant)).toBe(1);
  });

  it('corrects totals that are too low, too high or missing, for the merchant and for each program', async () => {
    const merchant = await aMerchant(service);
    const [one, two] = [await merchant.program(), await merchant.program()];
    for (const programId of [one._id, one._id, two._id]) await merchant.enroll({ programId });
    const { counters } = service.deps.collections;
    await counters.updateOne({ _id: merchant.id }, { $inc: { members: -2 } });
    await counters.updateOne({ _id: `${merchant.id}:${one._id}` }, { $inc: { members: 5 } });
    await counters.deleteOne({ _id: `${merchant.id}:${two._id}` });
    expect(await recount()).toBe(3);
    expect(await totalOf(merchant)).toBe(3);
    expect(await totalOf(merchant, `&programId=${one._id}`)).toBe(2);
    expect(await totalOf(merchant, `&programId=${two._id}`)).toBe(1);
  });

  it('ends its wait at once when its worker stops, and repairs nothing then', async () => {
    const merchant = await aMerchant(service);
    await merchant.enroll();
    const { counters, members } = service.deps.collections;
    await counters.updateOne({ _id: merchant.id }, { $inc: { members: -1 } });
    const stops = new AbortController();
    const countDocuments = members.countDocuments.bind(members);
    const counting = vi.spyOn(members, 'countDocuments').mockImplementation(async (...given) => {
      const counted = await countDocuments(...given);
      // When all are counted it waits, for 30 s.
      setTimeout(() => stops.abort(), 1_000);
      return counted;
    });
    onTestFinished(() => counting.mockRestore());
    const begunAt = performance.now();
    await expect(recountMerchants(service.deps, {}, { signal: stops.signal })).rejects.toThrow('aborted');
    expect(performance.now() - begunAt).toBeLessThan(20_000);
    expect(counting).toHaveBeenCalled();
    expect(await totalOf(merchant)).toBe(0);
    counting.mockRestore();
    expect(await recount()).toBe(1);
  });

  it('keeps only the tags that are in use', async () => {
    const merchant = await aMerchant(service);
    const member = await merchant.enroll();
    await merchant.call(`/merchants/me/members/${member.id}/tags`, { body: { tags: ['kept', 'lost'] } });
    const { tags } = service.deps.collections;
    await tags.deleteOne({ _id: `${merchant.id}:lost` });
    await tags.insertOne({ _id: `${merchant.id}:stale`, merchantId: merchant.id, tag: 'stale' });
    expect(await tagsOf(merchant)).toEqual(['kept', 'stale']);
    await recount();
    expect(await tagsOf(merchant)).toEqual(['kept', 'lost']);
  });

  it('keeps the totals exact during enrollments', async () => {
    const merchant = await aMerchant(service);
    const { _id: programId } = await merchant.program();
    const { counters } = service.deps.collections;
    for (let count = 0; count < 5; count += 1) await merchant.enroll({ programId });
    await counters.updateOne({ _id: merchant.id }, { $inc: { members: -1 } });
    let enrolling = true;
    const enrollments = (async () => {
      for (let count = 0; count < 60; count += 1) await merchant.enroll({ programId });
      enrolling = false;
    })();
    while (enrolling) await recount();
    await enrollments;
    await recount();
    expect(await totalOf(merchant)).toBe(65);
    expect(await totalOf(merchant, `&programId=${programId}`)).toBe(65);
  });

  // Last, because the totals of this merchant stay wrong.
  it('is not stopped by a merchant whose members cannot be counted', async () => {
    const [broken, whole] = [await aMerchant(service), await aMerchant(service)];
    for (const merchant of [broken, whole]) {
      await merchant.enroll();
      await service.deps.collections.counters.updateOne({ _id: merchant.id }, { $inc: { members: 3 } });
    }
    const { members } = service.deps.collections;
    const failing = new Proxy(members, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if ((name === 'countDocuments' || name === 'distinct') && JSON.stringify(args).includes(broken.id))
            return Promise.reject(new Error('The count takes too long.'));
          return value.apply(target, args);
        };
      },
    });
    const deps = { ...service.deps, collections: { ...service.deps.collections, members: failing } };
    await recountMerchants(deps, {}, { waitMs: 1 });
    const { counters } = service.deps.collections;
    expect(await counters.findOne({ _id: whole.id })).toMatchObject({ members: 1 });
    expect(await counters.findOne({ _id: broken.id })).toMatchObject({ members: 4 });
  });
});
