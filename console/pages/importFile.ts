// The file of an import in the browser: the fields of its columns and the cells of a wrong row.
import { fieldsOfColumns, undecided } from './columnTitles.js';

/** Columns that errors.csv adds. The service recognizes the file by them when no mapping names them. */
const added = ['row', 'reason'];

const nameOf = (title: string): string => title.trim().toLowerCase();

/** The titles that need a field. The service compares them in any case and refuses a repeated one. */
export const titlesOf = (cells: readonly string[]): string[] =>
  [...new Map(cells.map((cell) => [nameOf(cell), cell])).values()].filter((title) => title.trim() !== '');

/** The field of each column by its title; '' for one that is left out, `undecided` for one that people are asked about. */
export function fieldsOf(titles: readonly string[]): Record<string, string> {
  const fields = fieldsOfColumns(titles);
  return Object.fromEntries(titles.map((title, at) => [title, fields[at] ?? '']));
}

/** The columns that have no field yet, or one that another column has too. */
export const openTitles = (meant: Record<string, string>): string[] =>
  Object.entries(meant).flatMap(([title, field]) => {
    const isTwice = field !== '' && Object.values(meant).filter((other) => other === field).length > 1;
    return field === undecided || isTwice ? [title] : [];
  });

/** Whether a member made of a row can be written to, called or recognized. */
export const canBeFound = (meant: Record<string, string>): boolean =>
  ['email', 'phone', 'externalId'].some((field) => Object.values(meant).includes(field));

/** The mapping that the service cannot derive: columns whose title differs from their field, and ignored columns. */
export const mappingOf = (meant: Record<string, string>): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(meant)
      .filter(
        ([title, field]) => field.toLowerCase() !== nameOf(title) && !(field === '' && added.includes(nameOf(title))),
      )
      .map(([title, field]) => [title, field || null]),
  );

interface Read {
  /** All rows, the headings first. */
  rows: readonly (readonly string[])[];
  columns: readonly { header: string; field: string | null }[];
}

/** The title and the text of each cell that the reasons of a failed row are about, such as `email: must be...`. */
export function wrongCells({ row, reason }: { row: number; reason: string }, { rows, columns }: Read): string[] {
  const named = new Set(reason.split('; ').map((one) => one.split(':', 1)[0]));
  return columns.flatMap(({ header, field }, at) => {
    const cell = rows[row]?.[at];
    return field !== null && named.has(field) && cell ? [`${header}: ${cell}`] : [];
  });
}
