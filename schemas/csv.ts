// Writes CSV (RFC 4180) with protection against cells that a spreadsheet would run as a formula (OWASP CSV injection).

const startsFormula = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const isNumber = /^-?\d+(\.\d+)?$/;
const needsQuotes = /[",\r\n]/;

function guarded(value: string): string {
  return startsFormula.test(value) && !isNumber.test(value) ? `'${value}` : value;
}

const quoted = (value: string): string => (needsQuotes.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

export function csvLine(cells: readonly string[]): string {
  return csvLineAsIs(cells.map(guarded));
}

/**
 * Without the protection, for a file that will be imported again: the protection would change cells, phone numbers in
 * particular.
 */
export function csvLineAsIs(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}
