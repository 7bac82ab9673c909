// Writing CSV: RFC 4180, with the guard against cells that a spreadsheet would run (OWASP CSV injection).

const startsFormula = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const isNumber = /^-?\d+(\.\d+)?$/;
const needsQuotes = /[",\r\n]/;

function cell(value: string): string {
  const guarded = startsFormula.test(value) && !isNumber.test(value) ? `'${value}` : value;
  return needsQuotes.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}
