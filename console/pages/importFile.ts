// The file of an import in the browser: what its columns mean, as far as their titles tell, and the cells of a wrong
// row.
import { texts } from '../texts.js';

const fields = ['firstName', 'lastName', 'email', 'phone', 'initialPoints', 'externalId'] as const;

/** The known field that a column title means, if any; accents do not count. */
function fieldOf(title: string): string {
  const plain = title
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '');
  return fields.find((field) => field.toLowerCase() === plain) ?? texts.imports.otherTitles[plain] ?? '';
}

/** The field of each column by its title; '' for one that is left out. A field is given to its first column only. */
export function fieldsOf(titles: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const title of titles) {
    const field = fieldOf(title);
    found[title] = Object.values(found).includes(field) ? '' : field;
  }
  return found;
}

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
