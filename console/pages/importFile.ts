// The file of an import in the browser: the fields of its columns and the cells of a wrong row.
import { decideColumns, isAddedTitle, isRowsFile } from '../../schemas/batches/columnTitles.rules.js';
import { csvLine, type Delimiter, unguarded } from '../../schemas/shared/csv.rules.js';

/** A column that its title does not decide: people choose its field, or leave it out. */
export const undecided = '?';

/** How many failed rows the page lets people correct; more are for a spreadsheet. */
export const repairedHere = 200;

const nameOf = (title: string): string => title.trim().toLowerCase();

/** A title of the merchant's own column. */
const isOwn = (title: string): boolean => title.trim() !== '' && !isAddedTitle(title);

/** The rows of a file, the titles first, without the guard that the service puts on the cells of its own files. */
export const plainRows = (rows: string[][]): string[][] =>
  isRowsFile(rows[0] ?? []) ? rows.map((cells) => cells.map(unguarded)) : rows;

/** Such a file with its corrected rows. The service takes off the guard where its own columns are first and last. */
export const guardedFile = (rows: readonly string[][], separator: string): string =>
  rows.map((cells) => csvLine(cells, separator as Delimiter)).join('');

/** The titles that need a field. The service compares them in any case and refuses a repeated one. */
export const titlesOf = (cells: readonly string[]): string[] =>
  [...new Map(cells.map((cell) => [nameOf(cell), cell])).values()].filter((title) => title.trim() !== '');

/** The field of each column by its title; '' for one that is left out, `undecided` for one that people are asked about. */
export function fieldsOf(titles: readonly string[]): Record<string, string> {
  const decisions = decideColumns(titles);
  return Object.fromEntries(
    titles.map((title, at) => {
      const { is, field } = decisions[at] ?? {};
      return [title, is === 'twice' || is === 'undecided' ? undecided : (field ?? '')];
    }),
  );
}

/** The columns that have no field yet, or one that another column has too. */
export const openTitles = (meant: Record<string, string>): string[] =>
  Object.entries(meant).flatMap(([title, field]) => {
    const isTwice = field !== '' && Object.values(meant).filter((other) => other === field).length > 1;
    return field === undecided || isTwice ? [title] : [];
  });

/** What its title alone says. */
const kindOf = (title: string) => decideColumns([title])[0]?.is;

/** The columns that are left out: those that members have no field for, and those with a title that is not known. */
export function leftOutTitles(meant: Record<string, string>): { unused: string[]; unknown: string[] } {
  const left = Object.keys(meant).filter((title) => meant[title] === '' && isOwn(title));
  const those = (...kinds: string[]) => left.filter((title) => kinds.includes(kindOf(title) ?? ''));
  // A title with two meanings is left out when another column has its field.
  return { unused: those('unused', 'undecided'), unknown: those('unknown') };
}

/** Whether a member made of a row can be written to, called or recognized. */
export const canBeFound = (meant: Record<string, string>): boolean =>
  ['email', 'phone', 'externalId'].some((field) => Object.values(meant).includes(field));

/** The mapping that the service needs: columns whose title differs from their field, and those to leave out. */
export const mappingOf = (meant: Record<string, string>): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(meant)
      .filter(([title, field]) => field.toLowerCase() !== nameOf(title))
      // The service recognizes its own file by these while no mapping names them.
      .filter(([title, field]) => field !== '' || !isAddedTitle(title))
      .map(([title, field]) => [title, field || null]),
  );

interface Read {
  /** All rows, the headings first. */
  rows: readonly (readonly string[])[];
  columns: readonly { header: string; field: string | null }[];
}

export interface WrongCell {
  title: string;
  text: string;
}

interface WrongRow {
  row: number;
  mistakes: readonly { field?: string | undefined; display: string }[];
}

/** The cells that the mistakes of a row are about. */
export function wrongCells({ row, mistakes }: WrongRow, { rows, columns }: Read): WrongCell[] {
  const fields = new Set(mistakes.map(({ field }) => field));
  return columns.flatMap(({ header, field }, at) => {
    const text = rows[row]?.[at];
    return field !== null && fields.has(field) && text ? [{ title: header, text }] : [];
  });
}

/** What is wrong with a row, each column by its own title. */
export const sentenceOf = ({ mistakes }: WrongRow, columns: Read['columns']): string =>
  mistakes
    .map(({ field, display }) => {
      const title = field === undefined ? undefined : columns.find((column) => column.field === field)?.header;
      return title === undefined ? display : `${title}: ${display}`;
    })
    .join('; ');

/** The columns that the reason of a row in the file of failed rows names: it begins each part with a title. */
export const wrongTitles = (reason: string, titles: readonly string[]): string[] =>
  titles.filter((title) => reason.startsWith(`${title}: `) || reason.includes(`; ${title}: `));
