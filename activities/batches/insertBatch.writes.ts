// Stores a new batch within the limits of its merchant: the number of unfinished batches, of campaigns in 24 hours, and
// of waiting import rows.
import type { Deps } from '../../platform/deps.js';
import { insertWithQuota } from '../../platform/mongodb/insertWithQuota.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { batchOwner, countUnfinished, retryAfterSeconds, unfinishedPhases } from '../access/batchRoom.writes.js';
import { limitOf, limitReached } from '../access/merchants.reads.js';
import { type BatchClaim, type BatchKey, claimBatchKey, noClaim } from './batchKeys.rules.js';

const dayMs = 86_400_000;

/**
 * Returns the stored batch: `row`, or the one that an earlier request with the key has started. Throws RATE_LIMITED
 * with the limit that is reached, and IDEMPOTENCY_KEY_REUSED.
 */
export async function insertBatch(deps: Deps, row: BatchRow, key?: BatchKey): Promise<BatchRow> {
  const { merchantId, kind } = row;
  let claim: BatchClaim = noClaim;
  const quota = await limitOf(deps, { merchantId, limit: 'runningBatches' });
  await insertWithQuota(deps, {
    merchantId,
    owner: batchOwner(merchantId),
    async countHeld() {
      if (kind === 'campaign') await requireCampaignRoom(deps, merchantId);
      if (kind === 'members.import') await requireRowRoom(deps, { merchantId, batchId: row._id, rows: 1 });
      return countUnfinished(deps, merchantId, quota);
    },
    quota,
    refusal: limitReached('runningBatches', { max: quota, retryAfterSeconds }),
    name: 'batches',
    async rows() {
      if (key) claim = await claimBatchKey(deps, key, row._id);
      return claim.batch ? [] : [row];
    },
    also: () => claim,
  });
  return claim.batch ?? row;
}

/** Throws RATE_LIMITED until the oldest campaign of the last 24 hours leaves this period. */
async function requireCampaignRoom(deps: Deps, merchantId: string): Promise<void> {
  const max = await limitOf(deps, { merchantId, limit: 'campaignsADay' });
  const now = deps.now().getTime();
  const started = await deps.collections.batches
    .find({ merchantId, kind: 'campaign', startedAt: { $gt: new Date(now - dayMs) } }, { projection: { startedAt: 1 } })
    .sort({ startedAt: -1 })
    .limit(Math.max(max, 1))
    .toArray();
  if (started.length < max) return;
  const freeAt = (started.at(max - 1)?.startedAt.getTime() ?? now) + dayMs;
  throw limitReached('campaignsADay', { max, retryAfterSeconds: Math.max(Math.ceil((freeAt - now) / 1_000), 1) });
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
