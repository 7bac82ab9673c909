// Repairs the totals and the tags in use, which can be wrong after a crash. Enrollments continue during the recount,
// and each raises its totals shortly after its member was written. A total is therefore never set, but corrected by the
// number that is certainly missing or in excess.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Filter } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Recount, Recounted } from '../../schemas/tables/workflows.js';
import { addTagsInUse, removeUnusedTags } from './tags.writes.js';

/** Merchants in one activity call. */
const merchantBatchSize = 20;
/** Rows in one answer of the database; many more would block the event loop. */
const readBatchSize = 500;
/**
 * Longer than the time from writing members to raising their totals, for an enrollment and for a chunk of an import.
 */
const settleMs = 30_000;

interface Total {
  _id: string;
  merchantId: string;
  where: Filter<MemberRow>;
}

/** Returns the next merchants after `after`, ordered by id, with their totals. */
async function nextTotals(deps: Deps, after: string): Promise<{ merchantIds: string[]; totals: Total[] }> {
  const totals: Total[] = [];
  const merchantIds = new Set<string>();
  const programs = deps.collections.programs
    .find({ merchantId: { $gt: after } }, { projection: { merchantId: 1 } })
    .sort({ merchantId: 1, _id: 1 });
  for await (const { _id: programId, merchantId } of programs) {
    if (!merchantIds.has(merchantId)) {
      if (merchantIds.size === merchantBatchSize) break;
      merchantIds.add(merchantId);
      totals.push({ _id: merchantId, merchantId, where: { merchantId } });
    }
    totals.push({ _id: `${merchantId}:${programId}`, merchantId, where: { merchantId, programId } });
  }
  return { merchantIds: [...merchantIds], totals };
}

async function readTotals(deps: Deps, totals: Total[]): Promise<Map<string, number>> {
  const rows = await deps.collections.counters.find({ _id: { $in: totals.map(({ _id }) => _id) } }).toArray();
  return new Map(rows.map((row) => [row._id, row.members ?? 0]));
}

/**
 * The number by which a total is certainly too low (positive) or too high (negative). `after` was read `settleMs` after
 * the members were counted: it includes all counted members and perhaps more, so `counted` above `after` proves that
 * the total is too low. `before` was read before the count: it may lack counted members, so `counted` below `before`
 * proves that the total is too high. Without enrollments in between, `before` and `after` are equal.
 */
export function driftOf({ before, counted, after }: { before: number; counted: number; after: number }): number {
  const least = counted - after;
  const most = counted - before;
  if (least > 0) return least;
  return Math.min(most, 0);
}

interface Wait {
  waitMs?: number;
  /** Ends the wait, and with it the recount: another worker begins it again. */
  signal?: AbortSignal;
}

async function repairTotals(deps: Deps, totals: Total[], { waitMs = settleMs, signal }: Wait): Promise<number> {
  const before = await readTotals(deps, totals);
  const counted = new Map<string, number>();
  for (const { _id, merchantId, where } of totals) {
    try {
      counted.set(_id, await deps.collections.members.countDocuments(where));
    } catch (error) {
      deps.log.error({ err: error, merchantId, counter: _id }, 'the members of a merchant could not be counted');
    }
  }
  await sleep(waitMs, undefined, { signal });
  const after = await readTotals(deps, totals);
  let repaired = 0;
  for (const { _id, merchantId } of totals) {
    const members = counted.get(_id);
    if (members === undefined) continue;
    const drift = driftOf({ before: before.get(_id) ?? 0, counted: members, after: after.get(_id) ?? 0 });
    if (drift === 0) continue;
    deps.log.warn({ merchantId, counter: _id, drift }, 'a counter was wrong and is corrected');
    await deps.collections.counters.updateOne(
      { _id },
      { $inc: { members: drift }, $setOnInsert: { merchantId } },
      { upsert: true },
    );
    repaired += 1;
  }
  return repaired;
}

async function repairTags(deps: Deps, merchantId: string): Promise<number> {
  const listed = new Set<string>();
  for await (const { tag } of deps.collections.tags.find({ merchantId }).batchSize(readBatchSize)) listed.add(tag);
  const used = new Set(await deps.collections.members.distinct('tags', { merchantId }));
  const missing = [...used].filter((tag) => !listed.has(tag));
  const unused = [...listed].filter((tag) => !used.has(tag));
  await addTagsInUse(deps, { merchantId, tags: missing });
  await removeUnusedTags(deps, { merchantId, tags: unused });
  return missing.length + unused.length;
}

/**
 * Recounts up to 20 merchants after `after`. `next` is the value of `after` for the next call; it is absent at the end.
 * Throws AbortError when `signal` is aborted while it waits.
 */
export async function recountMerchants(deps: Deps, { after = '' }: Recount, wait: Wait = {}): Promise<Recounted> {
  const { merchantIds, totals } = await nextTotals(deps, after);
  const next = merchantIds.length === merchantBatchSize ? merchantIds.at(-1) : undefined;
  if (totals.length === 0) return { merchants: 0, repaired: 0 };
  let repaired = await repairTotals(deps, totals, wait);
  for (const merchantId of merchantIds) {
    repaired += await repairTags(deps, merchantId).catch((error: unknown) => {
      // An error of one merchant's tags does not delay the others; the next recount retries.
      deps.log.error({ err: error, merchantId }, 'the tags of a merchant could not be recounted');
      return 0;
    });
  }
  return { merchants: merchantIds.length, repaired, ...(next !== undefined && { next }) };
}
