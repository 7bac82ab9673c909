// The rows of an import that made no member, as CSV with the delimiter of its file: row number, the row's own cells,
// and for a failed row the reason, for a row that met a member the points that it did not give. The merchant can
// correct and upload such a file: the import removes the apostrophe that guards cells against formulas.
import { Readable } from 'node:stream';
import type { BatchRow, ImportRow, ImportRowOutcome } from '../../../schemas/batches/batches.rows.js';
import { addedColumns } from '../../../schemas/batches/importRows.rules.js';
import { csvLine } from '../../../schemas/shared/csv.rules.js';
import type { ApiDeps } from '../../http/apiDeps.js';
import { chunksOf } from '../batches.reads.js';

/** The reason for rows that the import did not reach. */
export const notProcessed = 'the import ended before this row';

/** The last cell of a row, undefined when the row is not in the file. */
type LastCell = (row: ImportRow, outcome: ImportRowOutcome | undefined) => string | undefined;

export function failedRowsCsv(deps: ApiDeps, batch: BatchRow): Readable {
  return rowsCsv(deps, batch, addedColumns.failed, ({ reason }, decided) => {
    if (decided) return decided.outcome === 'failed' ? (decided.reason ?? '') : undefined;
    return reason ?? (batch.finishedAt && notProcessed);
  });
}

export function knownRowsCsv(deps: ApiDeps, batch: BatchRow): Readable {
  return rowsCsv(deps, batch, addedColumns.known, ({ person }, decided) => {
    if (decided?.outcome !== 'deduped') return undefined;
    // The row of an erased member is empty.
    return person ? String(person.initialPoints ?? 0) : '';
  });
}

function rowsCsv(
  deps: ApiDeps,
  { _id: batchId, chunks = 0, header = [], delimiter }: BatchRow,
  last: string,
  lastCell: LastCell,
): Readable {
  async function* lines() {
    yield `\uFEFF${csvLine([addedColumns.first, ...header, last], delimiter)}`;
    for await (const { rows, outcomes = [] } of chunksOf(deps, { batchId, chunks })) {
      const decided = new Map(outcomes.map((outcome) => [outcome.row, outcome]));
      for (const row of rows) {
        const cell = lastCell(row, decided.get(row.row));
        if (cell !== undefined) yield csvLine([String(row.row), ...row.cells, cell], delimiter);
      }
    }
  }
  return Readable.from(lines());
}
