// Writes CSV (RFC 4180) in which no cell runs as a formula in a spreadsheet (OWASP CSV injection): such a cell gets a
// leading apostrophe, which `unguarded` takes off when the file comes back.

const startsFormula = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const isNumber = /^-?\d+(\.\d+)?$/;
const needsQuotes = /[",\r\n]/;

/** Apostrophes before a formula get another one, so that `unguarded` gives back what was guarded. */
const isGuarded = (value: string): boolean => value.startsWith("'") && startsFormula.test(value.replace(/^'+/, ''));

const guarded = (value: string): string =>
  isGuarded(value) || (startsFormula.test(value) && !isNumber.test(value)) ? `'${value}` : value;

/** The cell as it was before it was guarded; any other cell unchanged. */
export const unguarded = (cell: string): string => (isGuarded(cell) ? cell.slice(1) : cell);

const quoted = (value: string): string => (needsQuotes.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => quoted(guarded(cell))).join(',')}\r\n`;
}
