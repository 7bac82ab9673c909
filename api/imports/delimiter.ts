// Finds by which character the cells of a file are separated, from its header: where the merchant's spreadsheet writes
// numbers with a decimal comma, it separates cells by semicolons.
import { type Delimiter, delimiters } from '../../schemas/importRows.js';

/** Lines of nothing but delimiters, quotes and white space come before no header. */
const hasContent = /[^\s,;"]/;

/** The first record of a text that is not empty; undefined while its end has not come. */
export function firstRecord(text: string): string | undefined {
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') quoted = !quoted;
    if (text[at] !== '\n' || quoted) continue;
    const record = text.slice(start, at);
    if (hasContent.test(record)) return record;
    start = at + 1;
  }
  return undefined;
}

/** Only to compare delimiters; the parser of the rows is stricter. */
function cellsOf(header: string, delimiter: Delimiter): string[] {
  const cells: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at <= header.length; at += 1) {
    if (header[at] === '"') quoted = !quoted;
    if (at < header.length && (header[at] !== delimiter || quoted)) continue;
    cells.push(header.slice(start, at).trim().replace(/^"|"$/g, '').replaceAll('""', '"'));
    start = at + 1;
  }
  return cells;
}

/** The delimiter that gives the most known headers, and of several the one that gives the most cells. */
export function delimiterOf(header: string, isKnown: (cell: string) => boolean): Delimiter {
  let best = { delimiter: delimiters[0] as Delimiter, known: 0, cells: 1 };
  for (const delimiter of delimiters) {
    const cells = cellsOf(header, delimiter);
    const known = cells.filter(isKnown).length;
    if (known > best.known || (known === best.known && cells.length > best.cells))
      best = { delimiter, known, cells: cells.length };
  }
  return best.delimiter;
}
