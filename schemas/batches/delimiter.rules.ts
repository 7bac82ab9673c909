// Finds the delimiter of a file from its header, in the service and in the console, which imports this file.
// Spreadsheets in languages with a decimal comma separate cells by semicolons.
import { type Delimiter, delimiters } from '../shared/csv.rules.js';

/** A first line that tells a spreadsheet the separator of the file. Programs may quote it or fill it with delimiters. */
export const separatorLine = /^\ufeff?"?sep=([^"\r\n])"?[,;\t]*(?:\r\n?|\n|$)/i;

/** Lines of only delimiters, quotes and white space may come before the header. */
const hasContent = /[^\s,;"]/;

/** The first non-empty record; undefined until its end was read. */
export function firstRecord(text: string): string | undefined {
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') quoted = !quoted;
    if ((text[at] !== '\n' && text[at] !== '\r') || quoted) continue;
    const record = text.slice(start, at);
    if (hasContent.test(record)) return record;
    start = at + 1;
  }
  return undefined;
}

/** Only compares delimiters; the parser of the rows is stricter. */
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

/** The delimiter that yields the most known column names; on a tie, the one that yields the most cells. */
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
