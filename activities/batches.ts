// Batches as their merchant sees them: reading them, asking one to end, and the rows of one.
import { isFinished } from '../schemas/batches.js';
import type { BatchChunkRow, BatchRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import type { Store } from './deps.js';

export interface BatchAt {
  merchantId: string;
  batchId: string;
}

/** Throws BATCH_NOT_FOUND. */
export async function readBatch(store: Store, { merchantId, batchId }: BatchAt): Promise<BatchRow> {
  const batch = await store.rows.batches.findOne({ _id: batchId, merchantId });
  if (!batch) throw new ServiceError('BATCH_NOT_FOUND');
  return batch;
}

/** Newest first. */
export async function listBatches(
  store: Store,
  { merchantId, page, pageSize }: { merchantId: string; page: number; pageSize: number },
): Promise<{ items: BatchRow[]; total: number }> {
  const { batches } = store.rows;
  const [items, total] = await Promise.all([
    batches
      .find({ merchantId })
      .sort({ startedAt: -1, _id: -1 })
      .skip((page - 1) * pageSize)
      .limit(pageSize)
      .toArray(),
    batches.countDocuments({ merchantId }),
  ]);
  return { items, total };
}

/** Asks it to end; whoever carries it sees that at its next step. Throws BATCH_NOT_FOUND. */
export async function cancelBatch(store: Store, at: BatchAt): Promise<BatchRow> {
  const batch = await readBatch(store, at);
  if (isFinished(batch.phase) || batch.phase === 'publishing') return batch;
  await store.rows.batches.updateOne(
    { _id: at.batchId, merchantId: at.merchantId, cancelRequestedAt: { $exists: false } },
    { $set: { cancelRequestedAt: store.now() } },
  );
  return readBatch(store, at);
}

/** The chunks of an import in the order of its file. */
export function chunksOf(store: Store, { batchId, chunks }: { batchId: string; chunks: number }) {
  async function* inOrder(): AsyncGenerator<BatchChunkRow> {
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const row = await store.rows.batchRows.findOne({ batchId, chunk });
      if (row) yield row;
    }
  }
  return inOrder();
}
