// CSV in the browser: shows the columns of a file and corrects its failed rows. The service parses the file itself, and
// like here leaves out rows of white space.

const separators = [',', ';', '\t'];

/** A first line that names the separator, which a spreadsheet does not show. */
const separatorLine = /^"?sep=([^"\r\n])"?[,;\t]*(?:\r\n?|\n|$)/i;

const withoutBom = (text: string) => text.replace(/^\ufeff/, '');

export function separatorOf(text: string): string {
  const named = separatorLine.exec(withoutBom(text))?.[1];
  if (named !== undefined) return named;
  const [line = ''] = withoutBom(text).split(/[\r\n]/, 1);
  const counted = separators.map((separator) => [line.split(separator).length, separator] as const);
  return counted.reduce((best, one) => (one[0] > best[0] ? one : best), counted[0] ?? [0, ','])[1];
}

export function parseCsv(text: string, separator = separatorOf(text)): string[][] {
  const rows: string[][] = [[]];
  let cell = '';
  let isQuoted = false;
  const whole = withoutBom(text).replace(separatorLine, '');
  const endCell = () => {
    rows.at(-1)?.push(cell);
    cell = '';
  };
  for (let at = 0; at < whole.length; at += 1) {
    const char = whole[at] ?? '';
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (whole[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (char === '"' && cell === '') isQuoted = true;
    else if (char === separator) endCell();
    else if (char === '\n' || char === '\r') {
      endCell();
      rows.push([]);
    } else cell += char;
  }
  endCell();
  return rows.filter((row) => row.some((one) => one.trim() !== ''));
}

const written = (cell: string) => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

export const toCsv = (rows: readonly (readonly string[])[], separator: string): string =>
  rows.map((row) => `${row.map(written).join(separator)}\r\n`).join('');
