// Writes CSV (RFC 4180) in which no cell runs as a formula in a spreadsheet (OWASP CSV injection). A spreadsheet may
// take another separator than the comma, and then begins a cell inside one of ours, so a formula is guarded behind
// every separator: it gets a leading apostrophe, which `unguarded` removes when the file is uploaded again. The
// console imports this file, which must import nothing.

export const delimiters = [',', ';', '\t'] as const;
export type Delimiter = (typeof delimiters)[number];

const isNumber = /^-?\d+(\.\d+)?$/;
const needsQuotes = /[",;\t\r\n]/;

// Apostrophes before a formula belong to it, so that `unguarded` restores the original. A spreadsheet drops quotes.
const formula = /(?<=[,;\t\r\n])(?=["']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])|^(?='*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20])/g;
const guardOfFormula = new RegExp(formula.source.replaceAll('(?=', "'(?="), 'g');

const guarded = (value: string): string => (isNumber.test(value) ? value : value.replace(formula, "'"));

/** Restores the cell that was guarded; any other cell stays unchanged. */
export const unguarded = (cell: string): string => (cell.includes("'") ? cell.replace(guardOfFormula, '') : cell);

const quoted = (value: string): string => (needsQuotes.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

export function csvLine(cells: readonly string[], delimiter: Delimiter = ','): string {
  return `${cells.map((cell) => quoted(guarded(cell))).join(delimiter)}\r\n`;
}
