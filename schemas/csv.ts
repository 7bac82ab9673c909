// Writes CSV (RFC 4180) in which no cell runs as a formula in a spreadsheet (OWASP CSV injection): such a cell gets a
// leading apostrophe, which `unguarded` removes when the file is uploaded again.

const startsFormula = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const isNumber = /^-?\d+(\.\d+)?$/;
const needsQuotes = /[",\r\n]/;

/** A formula that already has apostrophes gets another one, so that `unguarded` restores the original. */
const isGuarded = (value: string): boolean => value.startsWith("'") && startsFormula.test(value.replace(/^'+/, ''));

const guarded = (value: string): string =>
  isGuarded(value) || (startsFormula.test(value) && !isNumber.test(value)) ? `'${value}` : value;

/** Restores the cell that was guarded; any other cell stays unchanged. */
export const unguarded = (cell: string): string => (isGuarded(cell) ? cell.slice(1) : cell);

const quoted = (value: string): string => (needsQuotes.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => quoted(guarded(cell))).join(',')}\r\n`;
}
