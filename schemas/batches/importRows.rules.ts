// The rows of an import (docs/interface.md#48-imports-and-batches), one person in each. A wrong row fails alone, and a
// phone number that cannot be read is left out; the reason names the field and the rule, without content of the row.
import { type Person, person } from '../members/members.schema.js';
import { externalIdProblem } from '../programs/barcodes.rules.js';
import type { Program } from '../programs/programs.schema.js';
import type { ImportField } from './columnTitles.rules.js';
import { type ImportColumns, isBlank, ownCells, plainCell, unknownColumns } from './importColumns.rules.js';
import { mistakeOf, type RowMistake } from './importMistakes.rules.js';

export interface ImportLine {
  /** 1 for the first row below the header; empty lines do not count. */
  row: number;
  /** The line of the file at which the row begins; the header is line 1, and every line counts. */
  line: number;
  cells: string[];
}

export type ReadRow = ImportLine &
  (
    | {
        person: Person;
        /** The optional cell that was left out because it cannot be read, and why. */
        leftOut?: string;
        reason?: never;
      }
    | { person?: never; leftOut?: never; reason: string }
  ) & {
    /** What the reason, or what was left out, is about. */
    mistakes?: RowMistake[];
  };

const wholeNumber = /^(\+?\d{1,15}|-0*[1-9]\d{0,14})$/;
/** A long number that a spreadsheet truncated to scientific notation. */
const shortened = /^\d([.,]\d+)?E\+\d+$/i;
/**
 * How a spreadsheet writes a whole number of a column with decimals. Beyond 15 digits it has lost some, and three zeros
 * may be thousands.
 */
const withDecimals = /^(\d{1,15})[.,]0{1,2}$/;
const wrapped = /^="((?:[^"]|"")*)"$/;

/** The text of a cell that a spreadsheet wrapped into a formula, such as `="0012345"`, to keep its zeros. */
const unwrapped = (cell: string): string => {
  const text = wrapped.exec(cell.trim())?.[1];
  return text === undefined ? cell : text.replaceAll('""', '"');
};

const wholeFields: readonly ImportField[] = ['externalId', 'initialPoints', 'phone'];

/** A number with `.0` is the whole number. */
const wholeOf = (field: ImportField, cell: string): string =>
  wholeFields.includes(field) ? cell.trim().replace(withDecimals, '$1') : cell;

const doubtful = /^\d+[.,]0+$/;

type CellMistake = RowMistake & { field: ImportField; problem: string };

/** Mistakes in the text of a cell, found before its value is parsed. */
const cellProblems = [
  {
    field: 'initialPoints',
    rule: 'whole',
    isWrong: (cell) => !wholeNumber.test(cell),
    problem: 'must be a whole number',
  },
  {
    ...{ field: 'externalId', rule: 'shortened', isWrong: (cell) => shortened.test(cell) },
    problem: 'was shortened by a spreadsheet; format the column as text',
  },
  {
    ...{ field: 'externalId', rule: 'decimals', isWrong: (cell) => doubtful.test(cell) },
    problem: 'was written with decimals by a spreadsheet; format the column as text',
  },
] satisfies (CellMistake & { isWrong: (cell: string) => boolean })[];

/** A person becomes a member without it, when it is the only cell that cannot be read. */
const optionalField: ImportField = 'phone';

/** The part of a program that its rows are checked against. */
type RowProgram = Pick<Program, 'style' | 'goal'> & {
  passTemplate?: Pick<Program['passTemplate'], 'barcode' | 'barcodeFormat'>;
};

function personOf(
  given: Record<string, string>,
  program: RowProgram,
): { person: Person; leftOut?: string; mistakes?: RowMistake[] } | { reason: string; mistakes: RowMistake[] } {
  const said: CellMistake[] = cellProblems.flatMap(({ isWrong, ...mistake }) => {
    const cell = given[mistake.field]?.trim();
    return cell !== undefined && isWrong(cell) ? [mistake] : [];
  });
  // A cell with a mistake in its text has no value to parse.
  const values: Record<string, unknown> = { ...given };
  for (const { field } of said) delete values[field];
  const points = values.initialPoints === undefined ? undefined : Number(values.initialPoints);
  const parsed = person.safeParse({ ...values, ...(points !== undefined && { initialPoints: points }) });
  for (const issue of parsed.error?.issues ?? []) said.push({ ...mistakeOf(issue), problem: issue.message });
  const { goal = 0, style } = program;
  if (style === 'stamps' && points !== undefined && points > goal) {
    const problem = `must be at most the goal of ${goal} on a stamps program`;
    said.push({ field: 'initialPoints', rule: 'atMost', limit: goal, problem });
  }
  const { externalId } = parsed.data ?? {};
  const { barcode, barcodeFormat: format = 'QR' } = program.passTemplate ?? {};
  const problem = externalId !== undefined && externalIdProblem({ barcode, barcodeFormat: format }, externalId);
  if (problem) said.push({ field: 'externalId', rule: 'barcode', format, problem });
  if (parsed.data && said.length === 0) return { person: parsed.data };
  const reason = [...new Set(said.map(({ field, problem }) => `${field}: ${problem}`))].join('; ');
  const mistakes = distinct(said.map(({ problem: _, ...mistake }) => mistake));
  if (said.some(({ field }) => field !== optionalField)) return { reason, mistakes };
  const { [optionalField]: _, ...rest } = given;
  return { ...personOf(rest, program), leftOut: reason, mistakes };
}

const distinct = (mistakes: readonly RowMistake[]): RowMistake[] => [
  ...new Map(mistakes.map((mistake) => [JSON.stringify(mistake), mistake])).values(),
];

/**
 * The cells of a line, one for each column of the header: a spreadsheet adds empty cells to a line, or leaves out those
 * of columns without a header. Undefined when the line does not fit.
 */
function fitted(given: readonly string[], { fields, unnamed, isGuarded }: ImportColumns): string[] | undefined {
  // In a file of ours, the last cell is that of the last column.
  const last = isGuarded ? given.slice(-1) : [];
  const cells = given.slice(0, given.length - last.length);
  const width = fields.length - last.length;
  const missing = Array.from({ length: Math.max(width - cells.length, 0) }, (_, index) => cells.length + index);
  if (!cells.slice(width).every(isBlank) || !missing.every((index) => unnamed.has(index))) return undefined;
  return [...cells.slice(0, width), ...missing.map(() => ''), ...last];
}

/**
 * A cell with only white space counts as absent, because spreadsheets write every column of every row. The guard of a
 * file of ours (schemas/shared/csv.rules.ts) is removed, also in `cells`. Throws IMPORT_INVALID for text in a column
 * without a header.
 */
export function readRow(
  { cells: given, ...at }: ImportLine,
  { columns, program }: { columns: ImportColumns; program: RowProgram },
): ReadRow {
  const line: ImportLine = { ...at, cells: ownCells(given, columns) };
  const { fields, unnamed } = columns;
  const fit = fitted(given, columns);
  if (!fit) {
    const mistakes: RowMistake[] = [{ rule: 'cells', given: given.length, limit: fields.length }];
    return { ...line, reason: `the row has ${given.length} cells where the header has ${fields.length}`, mistakes };
  }
  const nameless = fit.flatMap((cell, index) => (unnamed.has(index) && !isBlank(cell) ? [index] : []));
  if (nameless.length > 0) throw unknownColumns([], nameless);
  const values: Record<string, string> = {};
  for (const [index, field] of fields.entries()) {
    if (!field) continue;
    const cell = wholeOf(field, unwrapped(plainCell(columns)(fit[index] ?? '')));
    if (!isBlank(cell)) values[field] = cell;
  }
  return { ...line, ...personOf(values, program) };
}
