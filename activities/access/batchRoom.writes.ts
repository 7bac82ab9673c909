// How many unfinished batches a merchant may have.
import type { Deps } from '../../platform/deps.js';
import { countInsert } from '../../platform/mongodb/insertWithQuota.js';
import type { Transaction } from '../../platform/mongodb/transaction.js';
import { batchPhases, isFinished } from '../../schemas/batches/batches.schema.js';
import { limitOf, limitReached } from './merchants.reads.js';

export const retryAfterSeconds = 30;
export const unfinishedPhases = batchPhases.filter((phase) => !isFinished(phase) && phase !== 'scheduled');

/**
 * For a batch that is stored together with other rows: the statement that guards the limit against concurrent batches,
 * and the number of documents that it must match. Throws RATE_LIMITED.
 */
export async function batchRoom(deps: Deps, { merchantId }: { merchantId: string }): Promise<Transaction> {
  const quota = await limitOf(deps, { merchantId, limit: 'runningBatches' });
  const { counted, expectedMatches } = await countInsert(deps, { merchantId, owner: batchOwner(merchantId) });
  const held = await countUnfinished(deps, merchantId, quota);
  if (held >= quota) throw limitReached('runningBatches', { max: quota, retryAfterSeconds });
  return { statements: [counted], expectedMatches };
}

export const batchOwner = (merchantId: string): string => `batches:${merchantId}`;

export function countUnfinished(deps: Deps, merchantId: string, most: number): Promise<number> {
  return deps.collections.batches.countDocuments(
    { merchantId, phase: { $in: unfinishedPhases } },
    { limit: Math.max(most, 1) },
  );
}
