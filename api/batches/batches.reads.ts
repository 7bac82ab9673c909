// Reads of a merchant's batches and of the chunks of an import.

import type { Deps } from '../../platform/deps.js';
import type { QueryOf } from '../../schemas/access/endpoint.schema.js';
import type { BatchRow, ImportChunkRow } from '../../schemas/batches/batches.rows.js';
import type { Endpoints } from '../../schemas/tables/endpoints.js';
import { readPage } from '../http/page.reads.js';

interface ListBatches extends QueryOf<Endpoints['listBatches']> {
  merchantId: string;
}

/** The batches of a merchant, newest first. */
export async function listBatches(
  deps: Deps,
  { merchantId, kind, page, pageSize }: ListBatches,
): Promise<{ items: BatchRow[]; total: number }> {
  const { batches } = deps.collections;
  const where = { merchantId, ...(kind !== undefined && { kind }) };
  return readPage(deps, {
    page,
    pageSize,
    read: (skip) => batches.find(where).sort({ startedAt: -1, _id: -1 }).skip(skip).limit(pageSize).toArray(),
    count: () => deps.countRows(batches, where),
  });
}

/** By the id of an import, the newest one that its failed rows were sent again with. */
export async function repairsOf(
  deps: Deps,
  { merchantId, rows }: { merchantId: string; rows: readonly Pick<BatchRow, '_id' | 'kind'>[] },
): Promise<ReadonlyMap<string, string>> {
  const ids = rows.filter(({ kind }) => kind === 'members.import').map(({ _id }) => _id);
  if (ids.length === 0) return new Map();
  const found = await deps.collections.batches
    .find({ merchantId, repairs: { $in: ids }, phase: { $nin: ['storing', 'failed', 'cancelled'] } })
    .sort({ startedAt: 1 })
    .project<Pick<BatchRow, '_id' | 'repairs'>>({ repairs: 1 })
    .toArray();
  return new Map(found.map(({ _id, repairs = '' }) => [repairs, _id]));
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
