// Writing CSV: RFC 4180, with the guard against cells that a spreadsheet would run (OWASP CSV injection).

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

/** For a file that goes back where it came from: a guard would change what it holds, phone numbers first of all. */
export function csvLineAsIs(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}
