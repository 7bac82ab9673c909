// What the columns of an import's file mean, as far as their titles tell.
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
