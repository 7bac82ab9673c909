// Reads of a merchant's batches and of the chunks of an import.

import type { Deps } from '../../platform/deps.js';
import type { BatchRow, ImportChunkRow } from '../../schemas/collections.js';

/** The batches of a merchant, newest first. */
export async function listBatches(
  deps: Deps,
  { merchantId, page, pageSize }: { merchantId: string; page: number; pageSize: number },
): Promise<{ items: BatchRow[]; total: number }> {
  const { batches } = deps.collections;
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

/** The chunks of an import in the order of its file. */
export function chunksOf(deps: Deps, { batchId, chunks }: { batchId: string; chunks: number }) {
  async function* inOrder(): AsyncGenerator<ImportChunkRow> {
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const row = await deps.collections.importChunks.findOne({ batchId, chunk });
      if (row) yield row;
    }
  }
  return inOrder();
}
