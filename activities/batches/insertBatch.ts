// Stores a new batch within the limits of its merchant: how many batches are not over, how many campaigns a day were
// started, and how many rows of imports wait.
import type { Deps } from '../../platform/deps.js';
import { insertWithQuota } from '../../platform/mongodb/insertWithQuota.js';
import { batchPhases, isFinished } from '../../schemas/batches.js';
import type { BatchRow } from '../../schemas/collections.js';
import { limitOf, limitReached } from '../access/merchants.js';

const dayMs = 86_400_000;
const retryAfterSeconds = 30;
export const unfinished = batchPhases.filter((phase) => !isFinished(phase));

/** Throws RATE_LIMITED with the limit that is reached. */
export async function insertBatch(deps: Deps, row: BatchRow): Promise<void> {
  const { merchantId, kind } = row;
  const quota = await limitOf(deps, { merchantId, limit: 'runningBatches' });
  await insertWithQuota(deps, {
    merchantId,
    owner: `batches:${merchantId}`,
    async countHeld() {
      if (kind === 'campaign') await requireCampaignRoom(deps, merchantId);
      if (kind === 'members.import') await requireRowRoom(deps, { merchantId, batchId: row._id, rows: 1 });
      return deps.collections.batches.countDocuments({ merchantId, phase: { $in: unfinished } }, { limit: quota });
    },
    quota,
    refusal: limitReached('runningBatches', { max: quota, retryAfterSeconds }),
    name: 'batches',
    rows: async () => [row],
  });
}

/** Throws RATE_LIMITED until the oldest campaign of the last 24 hours is older than that. */
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

/** Throws RATE_LIMITED when the merchant's imports, this one with `rows` included, have more rows that wait than allowed. */
export async function requireRowRoom(
  deps: Deps,
  { merchantId, batchId, rows }: { merchantId: string; batchId: string; rows: number },
): Promise<void> {
  const max = await limitOf(deps, { merchantId, limit: 'waitingRows' });
  const others = await deps.collections.batches
    .find({ merchantId, phase: { $in: unfinished }, kind: 'members.import' }, { projection: { counts: 1, done: 1 } })
    .toArray();
  const waiting = others
    .filter(({ _id }) => _id !== batchId)
    .reduce((sum, { counts, done }) => sum + Math.max(counts.total - done, 0), rows);
  if (waiting > max) throw limitReached('waitingRows', { max, retryAfterSeconds });
}
