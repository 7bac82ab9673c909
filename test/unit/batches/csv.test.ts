// An independent parser reads a CSV line exactly as it was written, and no cell runs as a formula.
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvLine, delimiters, unguarded } from '../../../schemas/shared/csv.rules.js';
import injections from '../../corpora/csvInjection.json' with { type: 'json' };

const cell = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }).filter((value) => value.isWellFormed() && !value.startsWith('\uFEFF')),
  fc.tuple(fc.constantFrom("'", "''"), fc.constantFrom('=1', '-5', '@', '')).map((parts) => parts.join('')),
  fc.constantFrom(...injections),
  fc.string({ unit: fc.constantFrom(...'x;\t,\n\r"\'=-1'), maxLength: 8 }),
  fc.constantFrom('', '"', '""', ',', '\n', '\r\n', "'", '=1+1', '-5', '+48 600', '@now', 'plain'),
);
/**
 * A spreadsheet treats a cell as a formula by its first character. It may split at another separator than the comma,
 * and reads a cell of quotes and text as the text.
 */
const runs = /^[\t\r\n=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[,;\t\r\n]"*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/;
const isNumber = /^-?\d+(\.\d+)?$/;

const read = (lines: string, delimiter = ','): string[][] =>
  parse(lines, { delimiter, relax_column_count: true, record_delimiter: '\r\n' });
const delimiter = fc.constantFrom(...delimiters);

describe('a CSV line', () => {
  it('is read back as it was written once the guard is removed', () => {
    fc.assert(
      fc.property(fc.array(cell, { minLength: 2, maxLength: 8 }), delimiter, (cells, delimiter) => {
        const [row = []] = read(csvLine(cells, delimiter), delimiter);
        expect(row.map(unguarded)).toEqual(cells);
        for (const [index, value] of cells.entries())
          if (!/^'*[\t\r\n]|[=+\-@＝＋－＠]/.test(value)) expect(row[index]).toBe(value);
      }),
    );
  });

  it('has no cell with a character that a spreadsheet runs at its start or behind a separator, except numbers', () => {
    fc.assert(
      fc.property(fc.array(cell, { minLength: 2, maxLength: 8 }), delimiter, (cells, delimiter) => {
        for (const value of read(csvLine(cells, delimiter), delimiter)[0] ?? [])
          expect(runs.test(value) && !isNumber.test(value)).toBe(false);
      }),
    );
  });

  it('keeps numbers as they are', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (one, other) => {
        expect(csvLine([String(one), String(other)])).toBe(`${one},${other}\r\n`);
      }),
    );
  });

  it('ends as RFC 4180 requires, and several lines stay separate', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell, fc.constant('end')), { minLength: 1, maxLength: 6 }), (rows) => {
        expect(read(rows.map((row) => csvLine(row)).join('')).length).toBe(rows.length);
      }),
    );
  });

  it.each([
    ['=HYPERLINK("http://x")', `'=HYPERLINK("http://x")`],
    ['+1+1', "'+1+1"],
    ['-1+1', "'-1+1"],
    ['@SUM(1)', "'@SUM(1)"],
    ['\t1', "'\t1"],
    ['＝1', "'＝1"],
    ["x;=cmd|'/C calc'!A0;y", "x;'=cmd|'/C calc'!A0;y"],
    ['x\t-5', "x\t'-5"],
    ['x;"=1"', `x;'"=1"`],
  ])('guards %j', (cell, guarded) => {
    expect(read(csvLine([cell, 'x']))[0]?.[0]).toBe(guarded);
  });
});
