// The CSV of an import (docs/interface.md#48-imports-and-batches): headers in any case and order, one person in each
// row. A wrong header refuses the file. A wrong row fails alone; its reason names the field and the rule, and repeats
// no content of the row.
import { unguarded } from './csv.js';
import { ServiceError } from './errors.js';
import { type Person, person } from './members.js';
import type { Program } from './programs.js';

export const importFields = ['firstName', 'lastName', 'email', 'phone', 'initialPoints'] as const;
export type ImportField = (typeof importFields)[number];

/** The column that errors.csv adds. It may stay in a corrected file; an import ignores it. */
export const reasonColumn = 'reason';

export interface ImportLine {
  /** 1 for the first row below the header; empty lines do not count. */
  row: number;
  cells: string[];
}

export type ReadRow = ImportLine & ({ person: Person; reason?: never } | { person?: never; reason: string });

/** The field of each column; null for the ignored column. */
export type ImportColumns = readonly (ImportField | null)[];

const byName = new Map<string, ImportField | null>([
  ...importFields.map((field) => [field.toLowerCase(), field] as const),
  [reasonColumn, null],
]);

export const importInvalid = (why: string): ServiceError =>
  new ServiceError('IMPORT_INVALID', undefined, `The file cannot be imported; nothing was created: ${why}`);

export const importTooLarge = (limit: string): ServiceError =>
  new ServiceError('IMPORT_TOO_LARGE', undefined, `The import is over its limit of ${limit}; nothing was created.`);

const known = `the columns are ${importFields.join(', ')}`;

/**
 * Throws IMPORT_INVALID. Its message names a column by position and never by content, because the first line may have
 * personal data.
 */
export function readHeader(cells: readonly string[]): ImportColumns {
  const names = cells.map((cell) => cell.trim().toLowerCase());
  const unknown = names.findIndex((name) => !byName.has(name));
  if (names.length === 1 && unknown === 0 && /[;\t]/.test(names[0] ?? ''))
    throw importInvalid('its columns are not separated by commas.');
  if (unknown >= 0) throw importInvalid(`column ${unknown + 1} of its first line has no known header; ${known}.`);
  const repeated = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (repeated >= 0) throw importInvalid(`column ${repeated + 1} of its first line repeats a header.`);
  const columns = names.map((name) => byName.get(name) ?? null);
  if (columns.every((field) => field === null)) throw importInvalid(`its first line has no known header; ${known}.`);
  return columns;
}

const wholeNumber = /^(\+?\d{1,15}|-0*[1-9]\d{0,14})$/;

function fieldValueOf(field: ImportField, cell: string): unknown {
  if (field !== 'initialPoints') return cell;
  const trimmed = cell.trim();
  return wholeNumber.test(trimmed) ? Number(trimmed) : Number.NaN;
}

const notWhole = 'must be a whole number';

function problems(given: Record<string, unknown>, program: Pick<Program, 'style' | 'goal'>): Person | string {
  if (Number.isNaN(given.initialPoints)) return `initialPoints: ${notWhole}`;
  const parsed = person.safeParse(given);
  if (!parsed.success) {
    const said = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    return [...new Set(said)].join('; ');
  }
  const { goal = 0, style } = program;
  if (style === 'stamps' && (parsed.data.initialPoints ?? 0) > goal)
    return `initialPoints: must be at most the goal of ${goal} on a stamps program`;
  return parsed.data;
}

/**
 * A cell with only white space counts as absent: spreadsheets write every column of every row. The guard of our own
 * files (schemas/csv.ts) is taken off, also in `cells`.
 */
export function readRow(
  { row, cells: given }: ImportLine,
  { columns, program }: { columns: ImportColumns; program: Pick<Program, 'style' | 'goal'> },
): ReadRow {
  const cells = given.map(unguarded);
  const line: ImportLine = { row, cells };
  if (cells.length !== columns.length)
    return { ...line, reason: `the row has ${cells.length} cells where the header has ${columns.length}` };
  const values: Record<string, unknown> = {};
  for (const [index, field] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (field && cell.trim() !== '') values[field] = fieldValueOf(field, cell);
  }
  const result = problems(values, program);
  return typeof result === 'string' ? { ...line, reason: result } : { ...line, person: result };
}
