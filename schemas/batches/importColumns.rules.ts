// The header of an import's file (docs/interface.md#48-imports-and-batches): a mapping decides first, then the names of
// the fields in any case. A wrong header fails the whole file.
import { z } from 'zod';
import { unguarded } from '../shared/csv.rules.js';
import type { ServiceError } from '../shared/errors.js';
import { nearest } from '../shared/mistakes.rules.js';
import { firstCharacters } from '../shared/text.js';
import { addedColumns, type ImportField, importFields, isRowsFile } from './columnTitles.rules.js';
import { importInvalid } from './importFile.rules.js';

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
  /** Columns without a header, which spreadsheets add to the merchant's own; they are ignored while they are empty. */
  unnamed: ReadonlySet<number>;
  /** The headers that the mapping leaves out. */
  unused: readonly string[];
  /**
   * Whether the file is an errors.csv or known.csv: its cells are guarded (schemas/shared/csv.rules.ts), and its first and
   * its last column are not the merchant's own.
   */
  isGuarded: boolean;
}

const asWritten = (cell: string): string => cell;
export const plainCell = ({ isGuarded }: Pick<ImportColumns, 'isGuarded'>) => (isGuarded ? unguarded : asWritten);

const byName = new Map<string, ImportField | null>([
  ...importFields.map((field) => [nameOf(field), field] as const),
  ...Object.values(addedColumns).map((name) => [nameOf(name), null] as const),
]);

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
  // A mapping that gives such a title a field means a column of the merchant, of the same title.
  const isAdded = (cell = '') =>
    !mapping.get(nameOf(cell)) || given.slice(1, -1).some((other) => nameOf(other) === nameOf(cell));
  const isGuarded = isRowsFile(given) && isAdded(given[0]) && isAdded(given.at(-1));
  const isOurs = (index: number) => isGuarded && (index === 0 || index === given.length - 1);
  const cells = given.map(plainCell({ isGuarded }));
  const unnamed = new Set(cells.flatMap((cell, index) => (isBlank(cell) && !mapping.has('') ? [index] : [])));
  const fields = cells.map((cell, index) =>
    isOurs(index) || unnamed.has(index) ? null : fieldOfHeader(cell, mapping),
  );
  const unknown = fields.flatMap((field, index) => (field === undefined ? [index] : []));
  if (unknown.length > 0) throw unknownColumns(cells, unknown);
  const repeated = fields.findIndex((field, index) => field && fields.indexOf(field) !== index);
  if (repeated >= 0)
    throw importInvalid(`column ${repeated + 1} of its first line repeats a header.`, {
      problem: { is: 'twice', columns: [repeated + 1] },
    });
  if (!fields.some(Boolean))
    throw importInvalid(`its first line has no known header; ${known}.`, { problem: { is: 'header' } });
  const unused = cells.flatMap((cell, index) =>
    fields[index] === null && !isOurs(index) && mapping.has(nameOf(cell)) && !isBlank(cell) ? [cell.trim()] : [],
  );
  return { fields: fields.map((field) => field ?? null), unnamed, unused, isGuarded };
}

export function unknownColumns(cells: readonly string[], unknown: readonly number[]): ServiceError {
  const listed = unknown.slice(0, maxListed).map((index) => {
    const header = (cells[index] ?? '').trim();
    return {
      column: index + 1,
      header: firstCharacters(header, maxShown),
      nearest: nearest(header, importFields) ?? null,
    };
  });
  const columns = listed.map(({ column }) => column);
  const which = `${unknown.length > 1 ? 'columns' : 'column'} ${columns.join(', ')}`;
  const details: z.output<typeof columnDetails> = { unknownColumns: listed, columns: [...importFields] };
  return importInvalid(
    `${which} of its first line ${unknown.length > 1 ? 'have' : 'has'} no known header; ${known}. \`mapping\` gives a column its field, or ignores it.`,
    { details, problem: { is: 'columns', columns } },
  );
}

/** The merchant's own cells of a line, without the guard and the columns that a file of ours added. */
export function ownCells(cells: readonly string[], columns: ImportColumns): string[] {
  const plain = cells.map(plainCell(columns));
  return columns.isGuarded ? plain.slice(1, -1) : plain;
}
