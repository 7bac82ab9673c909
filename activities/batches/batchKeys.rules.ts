// The idempotency keys of requests that start a batch. The row of a key is written in the transaction that accepts the
// batch, so one key starts one batch at most, and a request that was refused or whose process died leaves its key free.
import type { Deps } from '../../platform/deps.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import type { Transaction } from '../../platform/mongodb/transaction.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { IdempotencyKeyRow } from '../../schemas/shared/service.rows.js';

export interface BatchKey {
  /** schemas/shared/ids.ts */
  id: string;
  merchantId: string;
  /** A hash of the request. */
  fingerprint: string;
  /** The time of acceptance. */
  now: Date;
  /**
   * Set for a key that the service derived from the file, because the caller gave none: it is free again after this
   * time, and when its batch was cancelled or failed.
   */
  acceptedSince?: Date;
}

export type BatchClaim = Transaction & { batch?: BatchRow };

export const noClaim: BatchClaim = { statements: [], expectedMatches: 0 };

/** An import that no worker took in time; it created nothing. */
export const isWithdrawn = ({ phase, cancelRequestedAt }: BatchRow): boolean =>
  phase === 'cancelled' && cancelRequestedAt === undefined;

type KeyAt = Pick<BatchKey, 'id' | 'merchantId' | 'acceptedSince'>;

async function readKey(
  { collections }: Deps,
  { id: _id, merchantId, acceptedSince }: KeyAt,
): Promise<{ row: IdempotencyKeyRow | null; batch: BatchRow | undefined }> {
  const row = await collections.idempotencyKeys.findOne({ _id, merchantId });
  if (!row?.batchId || (acceptedSince && row.createdAt < acceptedSince)) return { row, batch: undefined };
  const batch = await collections.batches.findOne({ _id: row.batchId, merchantId });
  const isOver = acceptedSince && (batch?.phase === 'failed' || batch?.phase === 'cancelled');
  return { row, batch: batch && !isOver && !isWithdrawn(batch) ? batch : undefined };
}

/** Whether a batch was started with the key, whatever the request was. */
export const isKeyTaken = async (deps: Deps, at: KeyAt): Promise<boolean> =>
  (await readKey(deps, at)).batch !== undefined;

/** The batch that a request with the key has started. Throws IDEMPOTENCY_KEY_REUSED when it was another request. */
export async function findKeyedBatch(deps: Deps, key: BatchKey): Promise<BatchRow | undefined> {
  return (await claimBatchKey(deps, key, '')).batch;
}

/**
 * The statements that claim the key for a batch, or the batch that has it. Of two transactions with these statements
 * one fails with a conflict. Throws IDEMPOTENCY_KEY_REUSED.
 */
export async function claimBatchKey(deps: Deps, key: BatchKey, batchId: string): Promise<BatchClaim> {
  const { id: _id, merchantId, fingerprint, now: createdAt } = key;
  const { row, batch } = await readKey(deps, key);
  if (batch && row?.fingerprint !== fingerprint) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
  if (batch) return { ...noClaim, batch };
  const claim = { fingerprint, batchId, createdAt };
  if (!row) return { statements: [insert(deps, 'idempotencyKeys', { _id, merchantId, ...claim })], expectedMatches: 0 };
  const { batchId: before, createdAt: at } = row;
  const free = { _id, merchantId, batchId: before, createdAt: at };
  return { statements: [update(deps, 'idempotencyKeys', free, { $set: claim })], expectedMatches: 1 };
}
