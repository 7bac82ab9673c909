// The failed rows of an import with their original cells, and the reason in a last column. The merchant can correct
// this file and send it again: the guard before cells that a spreadsheet would run is taken off when it is read.
import { Readable } from 'node:stream';
import type { BatchRow, ImportChunkRow } from '../../schemas/collections.js';
import { csvLine } from '../../schemas/csv.js';
import { reasonColumn } from '../../schemas/importRows.js';
import type { ApiDeps } from '../apiDeps.js';
import { chunksOf } from '../reads/batches.js';

/** The reason of a row that the import did not reach. */
export const notProcessed = 'the import ended before this row';

export function failedRowsCsv(deps: ApiDeps, batch: BatchRow): Readable {
  const header = batch.header ?? [];
  const old = header.findIndex((cell) => cell.trim().toLowerCase() === reasonColumn);
  const withReason = (cells: string[], reason: string): string[] => {
    const kept = old >= 0 && cells.length === header.length ? cells.toSpliced(old, 1) : cells;
    return [...kept, reason];
  };
  async function* lines() {
    yield `\uFEFF${csvLine(withReason(header, reasonColumn))}`;
    for await (const chunk of chunksOf(deps, { batchId: batch._id, chunks: batch.chunks ?? 0 }))
      for (const { cells, reason } of failedOf(chunk, batch)) yield csvLine(withReason(cells, reason));
  }
  return Readable.from(lines());
}

function failedOf(chunk: ImportChunkRow, batch: BatchRow): { cells: string[]; reason: string }[] {
  const outcomes = new Map(chunk.outcomes?.map((outcome) => [outcome.row, outcome]));
  return chunk.rows.flatMap(({ row, cells, reason }) => {
    const decided = outcomes.get(row);
    if (decided) return decided.outcome === 'failed' ? [{ cells, reason: decided.reason ?? '' }] : [];
    if (reason !== undefined) return [{ cells, reason }];
    return batch.finishedAt ? [{ cells, reason: notProcessed }] : [];
  });
}
