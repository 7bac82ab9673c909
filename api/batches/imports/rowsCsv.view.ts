// The rows of an import that made no member, as CSV with the delimiter of its file: row number, the row's own cells,
// and for a failed row the reason, for a row that met a member the points that it did not give. The merchant can
// correct and upload such a file: the import removes the apostrophe that guards cells against formulas.
import { Readable } from 'node:stream';
import type { BatchRow, ImportRow, ImportRowOutcome } from '../../../schemas/batches/batches.rows.js';
import { addedColumns } from '../../../schemas/batches/columnTitles.rules.js';
import { fieldOfHeader } from '../../../schemas/batches/importColumns.rules.js';
import { mistakeText, type RowMistake } from '../../../schemas/batches/importMistakes.rules.js';
import { csvLine } from '../../../schemas/shared/csv.rules.js';
import { catalogues, type Language } from '../../../schemas/shared/languages/index.js';
import { firstCharacters } from '../../../schemas/shared/text.js';
import type { ApiDeps } from '../../http/apiDeps.js';
import { chunksOf } from '../batches.reads.js';

/** The reason for rows that the import did not reach. */
export const notProcessed = 'the import ended before this row';

/** The last cell of a row, undefined when the row is not in the file. */
type LastCell = (row: ImportRow, outcome: ImportRowOutcome | undefined) => string | undefined;

/** With a language, the reasons are for people who look at the file in a spreadsheet. */
export function failedRowsCsv(deps: ApiDeps, batch: BatchRow, language?: Language): Readable {
  const say = language ? reasonIn(language, batch) : (_: ImportRow, { reason }: Why) => reason;
  return rowsCsv(deps, batch, addedColumns.failed, (row, decided) => {
    if (decided) return decided.outcome === 'failed' ? say(row, { reason: '', ...decided }) : undefined;
    if (row.reason !== undefined) return say(row, { ...row, reason: row.reason });
    return batch.finishedAt && say(row, { reason: notProcessed, mistakes: [{ rule: 'notReached' }] });
  });
}

interface Why {
  reason: string;
  mistakes?: readonly RowMistake[];
}

/** Of a long cell. */
const shownCharacters = 60;

/** Names each wrong column by its title, with the cell, and the line of the file. */
function reasonIn(language: Language, { header = [], mapping }: BatchRow) {
  const words = catalogues[language].failedRows;
  const columns = new Map(mapping);
  const fields = header.map((title) => fieldOfHeader(title, columns) ?? null);
  return ({ line, cells }: ImportRow, { reason, mistakes = [] }: Why): string => {
    const said = mistakes.map((mistake) => {
      const text = mistakeText(language, mistake);
      const at = mistake.field ? fields.indexOf(mistake.field) : -1;
      if (at < 0) return text;
      const cell = firstCharacters((cells[at] ?? '').trim(), shownCharacters);
      return `${(header[at] ?? '').trim()}: ${text} (${words.cell(cell)})`;
    });
    return `${said.join('; ') || reason} – ${words.row(line)}`;
  };
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
