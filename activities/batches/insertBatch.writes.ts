// Stores a new batch within the limits of its merchant: the number of unfinished batches, of campaigns in 24 hours, and
// of waiting import rows. A campaign for a time to come counts as unfinished from then on.
import type { Filter } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import { insertWithQuota } from '../../platform/mongodb/insertWithQuota.js';
import type { Transaction } from '../../platform/mongodb/transaction.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { dayMs, fullForMs, sentAt } from '../../schemas/batches/campaignRoom.rules.js';
import { batchOwner, countUnfinished, retryAfterSeconds, unfinishedPhases } from '../access/batchRoom.writes.js';
import { limitOf, limitReached } from '../access/merchants.reads.js';
import { type BatchClaim, type BatchKey, claimBatchKey, noClaim } from './batchKeys.rules.js';

/**
 * Returns the stored batch: `row`, or the one that an earlier request with the key has started, or an earlier call for
 * the same automatic message. `also` gives further statements of the transaction for each attempt, or throws. Throws
 * RATE_LIMITED with the limit that is reached, and IDEMPOTENCY_KEY_REUSED.
 */
export async function insertBatch(
  deps: Deps,
  row: BatchRow,
  { key, also = async () => noClaim }: { key?: BatchKey | undefined; also?: () => Promise<Transaction> } = {},
): Promise<BatchRow> {
  const { merchantId, kind } = row;
  let claim: BatchClaim = noClaim;
  let known: BatchRow | null = null;
  let more: Transaction = noClaim;
  const quota = await limitOf(deps, { merchantId, limit: 'runningBatches' });
  await insertWithQuota(deps, {
    merchantId,
    owner: batchOwner(merchantId),
    async countHeld() {
      if (kind === 'campaign' && !row.automatic) await requireCampaignRoom(deps, row);
      if (kind === 'members.import') await requireRowRoom(deps, { merchantId, batchId: row._id, rows: 1 });
      return row.phase === 'scheduled' ? 0 : countUnfinished(deps, merchantId, quota);
    },
    quota,
    refusal: limitReached('runningBatches', { max: quota, retryAfterSeconds }),
    name: 'batches',
    async rows() {
      if (key) claim = await claimBatchKey(deps, key, row._id);
      known = claim.batch ?? (row.automatic ? await deps.collections.batches.findOne({ _id: row._id }) : null);
      if (known) return [];
      more = await also();
      return [row];
    },
    also: () => ({
      statements: [...claim.statements, ...more.statements],
      expectedMatches: claim.expectedMatches + more.expectedMatches,
    }),
  });
  return known ?? row;
}

/** How far beyond a full day the next one with room is looked for. */
const lookAheadMs = 30 * dayMs;

/**
 * Throws RATE_LIMITED when the 24 hours in which the campaign is sent have as many as a merchant may send. It says how
 * long after the time of sending the next moment with room is.
 */
async function requireCampaignRoom(deps: Deps, row: BatchRow): Promise<void> {
  const { merchantId } = row;
  const max = await limitOf(deps, { merchantId, limit: 'campaignsADay' });
  const at = sentAt(row);
  const near = (ms: number) => ({ $gt: new Date(at.getTime() - dayMs), $lt: new Date(at.getTime() + ms) });
  const own = { merchantId, kind: 'campaign', automatic: { $exists: false } } as const;
  const read = (where: Filter<BatchRow>) =>
    deps.collections.batches.find(where, { projection: { startedAt: 1, sendAt: 1, phase: 1, counts: 1 } }).toArray();
  const fullFor = async (aheadMs: number) => {
    const [now, planned] = await Promise.all([
      read({ ...own, startedAt: near(aheadMs), sendAt: { $exists: false } }),
      read({ ...own, sendAt: near(aheadMs) }),
    ]);
    // One that was cancelled before its time has sent nothing.
    const sent = planned.filter(({ phase, counts }) => phase !== 'cancelled' || counts.total > 0);
    return fullForMs([...now, ...sent].map(sentAt), at, max);
  };
  if ((await fullFor(dayMs)) === undefined) return;
  const forMs = (await fullFor(lookAheadMs)) ?? 0;
  throw limitReached('campaignsADay', { max, retryAfterSeconds: Math.max(Math.ceil(forMs / 1_000), 1) });
}

/**
 * Throws RATE_LIMITED when the waiting import rows of the merchant, `rows` of this import included, exceed the limit.
 */
export async function requireRowRoom(
  deps: Deps,
  { merchantId, batchId, rows }: { merchantId: string; batchId: string; rows: number },
): Promise<void> {
  const max = await limitOf(deps, { merchantId, limit: 'waitingRows' });
  const others = await deps.collections.batches
    .find(
      { merchantId, phase: { $in: unfinishedPhases }, kind: 'members.import' },
      { projection: { counts: 1, done: 1 } },
    )
    .toArray();
  const waiting = others
    .filter(({ _id }) => _id !== batchId)
    .reduce((sum, { counts, done }) => sum + Math.max(counts.total - done, 0), rows);
  if (waiting > max) throw limitReached('waitingRows', { max, retryAfterSeconds });
}
