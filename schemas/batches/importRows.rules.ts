// The CSV of an import (docs/interface.md#48-imports-and-batches): headers in any case and order, one person in each
// row. A wrong header fails the whole file. A wrong row fails alone, and a phone number that cannot be read is left
// out; the reason names the field and the rule, without content of the row.
import { z } from 'zod';
import { type Person, person } from '../members/members.schema.js';
import { externalIdProblem } from '../programs/barcodes.rules.js';
import type { Program } from '../programs/programs.schema.js';
import { unguarded } from '../shared/csv.rules.js';
import { ServiceError } from '../shared/errors.js';
import { nearest } from '../shared/mistakes.rules.js';
import { firstCharacters } from '../shared/text.js';

export const importFields = ['firstName', 'lastName', 'email', 'phone', 'initialPoints', 'externalId'] as const;
export type ImportField = (typeof importFields)[number];

export const charsets = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Charset = (typeof charsets)[number];

/**
 * The first and the last column of errors.csv and known.csv. A file that has both there is taken for one of these: they
 * are ignored, and the guard is taken off its cells. In other files a column of this name is ignored, and no cell is
 * changed.
 */
export const addedColumns = { first: 'row', failed: 'reason', known: 'pointsNotGiven' } as const;
const { first: firstAdded, ...lastAdded } = addedColumns;

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
  );

/** Line ends of a file. Spreadsheets also write a lone CR. */
export const lineEnd = /\r\n?|\n/;

export const isBlank = (cell: string): boolean => cell.trim() === '';

const maxMapped = 200;

const nameOf = (header: string): string => header.trim().toLowerCase();

/** The fields of columns by their headers; null for a column that is ignored. Headers match in any case. */
export const columnMapping = z
  .record(z.string().max(200), z.enum(importFields).nullable())
  .refine((mapping) => Object.keys(mapping).length <= maxMapped, `must have at most ${maxMapped} columns`)
  .transform((mapping) => new Map(Object.entries(mapping).map(([header, field]) => [nameOf(header), field])));
export type ColumnMapping = z.output<typeof columnMapping>;

export interface ImportColumns {
  /** The field of each column; null for an ignored column. */
  fields: readonly (ImportField | null)[];
  /** The columns that a file of ours added to the merchant's own. */
  added: ReadonlySet<number>;
  /** Columns without a header, which spreadsheets add to the merchant's own; they are ignored while they are empty. */
  unnamed: ReadonlySet<number>;
  /** Whether the file is an errors.csv or known.csv, whose cells are guarded (schemas/shared/csv.rules.ts). */
  isGuarded: boolean;
}

const asWritten = (cell: string): string => cell;
const plainCell = ({ isGuarded }: Pick<ImportColumns, 'isGuarded'>) => (isGuarded ? unguarded : asWritten);

const byName = new Map<string, ImportField | null>([
  ...importFields.map((field) => [nameOf(field), field] as const),
  ...Object.values(addedColumns).map((name) => [nameOf(name), null] as const),
]);

export const importInvalid = (why: string, details?: unknown): ServiceError =>
  new ServiceError('IMPORT_INVALID', details, `The file cannot be imported; nothing was created: ${why}`);

/** `instead` names the alternative for larger files. */
export const importTooLarge = (limit: string, instead?: string): ServiceError =>
  new ServiceError(
    'IMPORT_TOO_LARGE',
    undefined,
    [`The import is over its limit of ${limit}; nothing was created.`, instead].filter(Boolean).join(' '),
  );

const known = `the columns are ${importFields.join(', ')}`;

/** The field of a header, null when its column is ignored, undefined when it is unknown. */
export const fieldOfHeader = (header: string, mapping: ColumnMapping): ImportField | null | undefined => {
  const name = nameOf(header);
  return mapping.has(name) ? mapping.get(name) : byName.get(name);
};

const maxListed = 50;
const maxShown = 100;

/** `error.details` of a file with unknown columns. */
export const columnDetails = z.object({
  unknownColumns: z
    .array(z.object({ column: z.int(), header: z.string(), nearest: z.enum(importFields).nullable() }))
    .max(maxListed),
  columns: z.array(z.enum(importFields)).describe('the known ones'),
});

/**
 * Throws IMPORT_INVALID. Its message names a column by position and never by content, because the first line may
 * contain personal data; `error.details` contains the unknown headers and the nearest known ones, and only the sender
 * sees it.
 */
export function readHeader(given: readonly string[], mapping: ColumnMapping = new Map()): ImportColumns {
  const isAdded = (cell = '', names: readonly string[] = Object.values(addedColumns)) =>
    names.map(nameOf).includes(nameOf(cell)) && !mapping.has(nameOf(cell));
  const isGuarded = isAdded(given[0], [firstAdded]) && isAdded(given.at(-1), Object.values(lastAdded));
  const cells = given.map(plainCell({ isGuarded }));
  const unnamed = new Set(cells.flatMap((cell, index) => (isBlank(cell) && !mapping.has('') ? [index] : [])));
  const fields = cells.map((cell, index) => (unnamed.has(index) ? null : fieldOfHeader(cell, mapping)));
  const unknown = fields.flatMap((field, index) => (field === undefined ? [index] : []));
  if (unknown.length > 0) throw unknownColumns(cells, unknown);
  const repeated = fields.findIndex((field, index) => field && fields.indexOf(field) !== index);
  if (repeated >= 0) throw importInvalid(`column ${repeated + 1} of its first line repeats a header.`);
  if (!fields.some(Boolean)) throw importInvalid(`its first line has no known header; ${known}.`);
  const added = new Set(cells.flatMap((cell, index) => (isAdded(cell) ? [index] : [])));
  return { fields: fields.map((field) => field ?? null), added, unnamed, isGuarded };
}

function unknownColumns(cells: readonly string[], unknown: readonly number[]): ServiceError {
  const listed = unknown.slice(0, maxListed).map((index) => {
    const header = (cells[index] ?? '').trim();
    return {
      column: index + 1,
      header: firstCharacters(header, maxShown),
      nearest: nearest(header, importFields) ?? null,
    };
  });
  const which = `${unknown.length > 1 ? 'columns' : 'column'} ${listed.map(({ column }) => column).join(', ')}`;
  const details: z.output<typeof columnDetails> = { unknownColumns: listed, columns: [...importFields] };
  return importInvalid(
    `${which} of its first line ${unknown.length > 1 ? 'have' : 'has'} no known header; ${known}. \`mapping\` gives a column its field, or ignores it.`,
    details,
  );
}

/** The merchant's own cells of a line, without the guard and the columns that a file of ours added. */
export function ownCells(cells: readonly string[], columns: ImportColumns): string[] {
  const { fields, added, isGuarded } = columns;
  const plain = cells.map(plainCell(columns));
  if (plain.length === fields.length) return plain.filter((_, index) => !added.has(index));
  // A row with too many or too few cells has the added ones at its ends.
  return isGuarded ? plain.slice(1, -1) : plain;
}

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

/** Mistakes in the text of a cell, found before its value is parsed. */
const cellProblems: Partial<Record<ImportField, (cell: string) => string | false>> = {
  initialPoints: (cell) => !wholeNumber.test(cell) && 'must be a whole number',
  externalId: (cell) =>
    (shortened.test(cell) && 'was shortened by a spreadsheet; format the column as text') ||
    (doubtful.test(cell) && 'was written with decimals by a spreadsheet; format the column as text'),
};

/** A person becomes a member without it, when it is the only cell that cannot be read. */
const optionalField: ImportField = 'phone';

/** The part of a program that its rows are checked against. */
type RowProgram = Pick<Program, 'style' | 'goal'> & {
  passTemplate?: Pick<Program['passTemplate'], 'barcode' | 'barcodeFormat'>;
};

function personOf(
  given: Record<string, string>,
  program: RowProgram,
): { person: Person; leftOut?: string } | { reason: string } {
  const said = Object.entries(cellProblems).flatMap(([field, problemOf]) => {
    const cell = given[field]?.trim();
    const problem = cell !== undefined && problemOf(cell);
    return problem ? [{ field, problem }] : [];
  });
  // A cell with a mistake in its text has no value to parse.
  const values: Record<string, unknown> = { ...given };
  for (const { field } of said) delete values[field];
  const points = values.initialPoints === undefined ? undefined : Number(values.initialPoints);
  const parsed = person.safeParse({ ...values, ...(points !== undefined && { initialPoints: points }) });
  for (const { path, message } of parsed.error?.issues ?? []) said.push({ field: path.join('.'), problem: message });
  const { goal = 0, style } = program;
  if (style === 'stamps' && points !== undefined && points > goal)
    said.push({ field: 'initialPoints', problem: `must be at most the goal of ${goal} on a stamps program` });
  const { externalId } = parsed.data ?? {};
  const unfit = externalId !== undefined && externalIdProblem(program.passTemplate ?? {}, externalId);
  if (unfit) said.push({ field: 'externalId', problem: unfit });
  if (parsed.data && said.length === 0) return { person: parsed.data };
  const reason = [...new Set(said.map(({ field, problem }) => `${field}: ${problem}`))].join('; ');
  if (said.some(({ field }) => field !== optionalField)) return { reason };
  const { [optionalField]: _, ...rest } = given;
  return { ...personOf(rest, program), leftOut: reason };
}

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
  if (!fit) return { ...line, reason: `the row has ${given.length} cells where the header has ${fields.length}` };
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
