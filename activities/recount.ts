// What is kept beside the members so that no request has to count them, put right where a crash left it wrong: totals, and
// the tags in use. Enrollments go on meanwhile, and each raises its totals a moment after its member is there; so a
// total is corrected only by what is certainly missing or too much, and never set.
import type { Filter } from 'mongodb';
import type { MemberRow } from '../schemas/collections.js';
import type { Recount, Recounted } from '../schemas/workflows.js';
import type { Store } from './deps.js';
import { forgetUnusedTags, noteTags } from './memberTags.js';

/** Merchants in one activity. */
const merchantsAtOnce = 20;
/** Longer than an enrollment or a chunk of an import takes from its members to its totals. */
const settleMs = 30_000;

interface Total {
  _id: string;
  merchantId: string;
  where: Filter<MemberRow>;
}

/** The next merchants after `after`, in order of their ids, with their totals. */
async function nextTotals(store: Store, after: string): Promise<{ merchantIds: string[]; totals: Total[] }> {
  const totals: Total[] = [];
  const merchantIds = new Set<string>();
  const programs = store.rows.programs
    .find({ merchantId: { $gt: after } }, { projection: { merchantId: 1 } })
    .sort({ merchantId: 1, _id: 1 });
  for await (const { _id: programId, merchantId } of programs) {
    if (!merchantIds.has(merchantId)) {
      if (merchantIds.size === merchantsAtOnce) break;
      merchantIds.add(merchantId);
      totals.push({ _id: merchantId, merchantId, where: { merchantId } });
    }
    totals.push({ _id: `${merchantId}:${programId}`, merchantId, where: { merchantId, programId } });
  }
  return { merchantIds: [...merchantIds], totals };
}

async function kept(store: Store, totals: Total[]): Promise<Map<string, number>> {
  const rows = await store.rows.counters.find({ _id: { $in: totals.map(({ _id }) => _id) } }).toArray();
  return new Map(rows.map((row) => [row._id, row.members ?? 0]));
}

/**
 * What the total is certainly short of, or too high by. Read before the count, the total may lack what is about to be
 * added; read well after it, it may hold what came since. Where it stood still, both say the same.
 */
export function driftOf({ before, counted, after }: { before: number; counted: number; after: number }): number {
  const least = counted - after;
  const most = counted - before;
  if (least > 0) return least;
  return Math.min(most, 0);
}

async function repairTotals(store: Store, totals: Total[], waitMs: number): Promise<number> {
  const before = await kept(store, totals);
  const counted = new Map<string, number>();
  for (const { _id, where } of totals) counted.set(_id, await store.rows.members.countDocuments(where));
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  const after = await kept(store, totals);
  let repaired = 0;
  for (const { _id, merchantId } of totals) {
    const seen = { before: before.get(_id) ?? 0, counted: counted.get(_id) ?? 0, after: after.get(_id) ?? 0 };
    const drift = driftOf(seen);
    if (drift === 0) continue;
    store.log.warn({ merchantId, counter: _id, drift }, 'a total was wrong and is put right');
    await store.rows.counters.updateOne(
      { _id },
      { $inc: { members: drift }, $setOnInsert: { merchantId } },
      { upsert: true },
    );
    repaired += 1;
  }
  return repaired;
}

async function repairTags(store: Store, merchantId: string): Promise<number> {
  const listed = (await store.rows.tags.find({ merchantId }).toArray()).map((row) => row.tag);
  const used = await store.rows.members.distinct('tags', { merchantId });
  const missing = used.filter((tag) => !listed.includes(tag));
  const unused = listed.filter((tag) => !used.includes(tag));
  await noteTags(store, { merchantId, tags: missing });
  await forgetUnusedTags(store, { merchantId, tags: unused });
  return missing.length + unused.length;
}

/** Some merchants at a time; `next` is where to go on, and absent when there is nothing left. */
export async function recountMerchants(
  store: Store,
  { after = '' }: Recount,
  { waitMs = settleMs }: { waitMs?: number } = {},
): Promise<Recounted> {
  const { merchantIds, totals } = await nextTotals(store, after);
  const next = merchantIds.length === merchantsAtOnce ? merchantIds.at(-1) : undefined;
  if (totals.length === 0) return { merchants: 0, repaired: 0 };
  let repaired = await repairTotals(store, totals, waitMs);
  for (const merchantId of merchantIds) repaired += await repairTags(store, merchantId);
  return { merchants: merchantIds.length, repaired, ...(next !== undefined && { next }) };
}
