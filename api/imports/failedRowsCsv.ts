// The failed rows of an import as CSV, with the delimiter of its file: row number, the row's own cells, and the reason. The merchant can correct this
// file and upload it again: the import removes the apostrophe that guards cells against formulas.
import { Readable } from 'node:stream';
import type { BatchRow, ImportChunkRow } from '../../schemas/collections.js';
import { csvLine } from '../../schemas/csv.js';
import { addedColumns } from '../../schemas/importRows.js';
import type { ApiDeps } from '../apiDeps.js';
import { chunksOf } from '../reads/batches.js';

/** The reason for rows that the import did not reach. */
export const notProcessed = 'the import ended before this row';

export function failedRowsCsv(deps: ApiDeps, batch: BatchRow): Readable {
  const [first, last] = addedColumns;
  const { header = [], delimiter } = batch;
  async function* lines() {
    yield `\uFEFF${csvLine([first, ...header, last], delimiter)}`;
    for await (const chunk of chunksOf(deps, { batchId: batch._id, chunks: batch.chunks ?? 0 }))
      for (const { row, cells, reason } of failedOf(chunk, batch))
        yield csvLine([String(row), ...cells, reason], delimiter);
  }
  return Readable.from(lines());
}

function failedOf(chunk: ImportChunkRow, batch: BatchRow): { row: number; cells: string[]; reason: string }[] {
  const outcomes = new Map(chunk.outcomes?.map((outcome) => [outcome.row, outcome]));
  return chunk.rows.flatMap(({ row, cells, reason }) => {
    const decided = outcomes.get(row);
    if (decided) return decided.outcome === 'failed' ? [{ row, cells, reason: decided.reason ?? '' }] : [];
    if (reason !== undefined) return [{ row, cells, reason }];
    return batch.finishedAt ? [{ row, cells, reason: notProcessed }] : [];
  });
}
