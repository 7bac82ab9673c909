// The bytes of a file are parsed to the rows that were written, in any chunks; a file that is no CSV of members is
// refused as a whole.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRows } from '../../api/imports/uploadRows.js';
import type { ImportRow } from '../../schemas/collections.js';
import { unguarded } from '../../schemas/csv.js';
import { csvHeader } from '../rig/imports.js';

const program = { style: 'points' as const };

async function* toChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function read(file: string | Buffer, { size = 65_536, maxBytes = 1_048_576, maxRows = 5_000 } = {}) {
  const bytes = typeof file === 'string' ? Buffer.from(file) : file;
  const { header, chunks } = await readRows({ file: toChunks(bytes, size), program, maxBytes, maxRows });
  const rows: ImportRow[] = [];
  for await (const chunk of chunks) rows.push(...chunk);
  return { header, rows };
}

const refusal = (file: string | Buffer, options?: Parameters<typeof read>[1]) =>
  read(file, options).then(
    () => 'accepted',
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  );

/** An independent CSV writer that quotes every cell, as RFC 4180 allows. */
const quotedLine = (cells: readonly string[]) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');

describe('a file', () => {
  it('is parsed to the rows that were written, without the guard of a formula, for any line ends, byte order mark and chunks', async () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom('"', '""', ',', '\n', '\r\n', 'a\nb', 'é', '\u{1F600}', '=1+1', ' '),
    );
    const row = fc
      .tuple(cell, cell, cell, cell, cell)
      .filter(
        (cells) => cells.every((text) => text.isWellFormed() && !text.includes('\0')) && cells.join('').trim() !== '',
      );
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 12 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.integer({ min: 1, max: 40 }),
        async (written, end, mark, size) => {
          const text = `${mark ? '\uFEFF' : ''}${[csvHeader, ...written.map(quotedLine)].join(end)}${end}`;
          const { rows } = await read(text, { size });
          expect(rows.map(({ cells }) => cells)).toEqual(written.map((cells) => cells.map(unguarded)));
          expect(rows.map((entry) => entry.row)).toEqual(written.map((_, index) => index + 1));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('skips empty lines and lines with only commas', async () => {
    const { rows } = await read(`\n${csvHeader}\n\nAda,,,,\n,,,,\n  \nBob,,,,\n\n`);
    expect(rows.map(({ row, person }) => [row, person?.firstName])).toEqual([
      [1, 'Ada'],
      [2, 'Bob'],
    ]);
  });

  it('with only a header has no rows', async () => {
    expect((await read(csvHeader)).rows).toEqual([]);
  });

  it('is parsed to chunks of at most 100 rows', async () => {
    const file = Buffer.from(`email\n${Array.from({ length: 601 }, (_, index) => `p${index}@example.com`).join('\n')}`);
    const { chunks } = await readRows({ file: toChunks(file, 1_000), program, maxBytes: 1e6, maxRows: 1e6 });
    const sizes: number[] = [];
    for await (const chunk of chunks) sizes.push(chunk.length);
    expect(sizes).toEqual([100, 100, 100, 100, 100, 100, 1]);
  });

  const hostile: [string, string | Buffer][] = [
    ['that is empty', ''],
    ['of nothing but a mark', '\uFEFF'],
    ['in UTF-16', Buffer.from(`\uFEFF${csvHeader}\nAda,,,,\n`, 'utf16le')],
    ['with a NUL', `${csvHeader}\nA\0da,,,,\n`],
    ['with broken UTF-8', Buffer.concat([Buffer.from(`${csvHeader}\n`), Buffer.from([0xc3, 0x28])])],
    ['that ends within a character', Buffer.concat([Buffer.from(`${csvHeader}\nAd`), Buffer.from([0xf0, 0x9f])])],
    ['that is a zip', Buffer.from('504b0304140008080800', 'hex')],
    ['with a quote that is never closed', `${csvHeader}\n"Ada,,,,\nBob,,,,\n`],
    ['with text behind a closing quote', `${csvHeader}\n"Ada"x,,,,\n`],
    ['with a quote inside a bare cell', `${csvHeader}\nA"da,,,,\n`],
    ['with a cell of 1 MB', `${csvHeader}\n${'a'.repeat(1_000_000)},,,,\n`],
    ['with a quoted cell of 1 MB of lines', `${csvHeader}\n"${'a\n'.repeat(500_000)}",,,,\n`],
    ['with 100,000 columns', `${csvHeader}${',x'.repeat(100_000)}\nAda\n`],
    ['with 100,000 empty cells in a row', `${csvHeader}\n${','.repeat(100_000)}a\n`],
    ['with an unknown column', 'email,birthday\na@example.com,1\n'],
    ['without a header', 'ada@example.com,Ada\nbob@example.com,Bob\n'],
    ['of HTML', '<!doctype html><title>no</title>'],
  ];
  it.each(hostile)('%s is refused as a whole', async (_name, file) => {
    expect(await refusal(file)).toBe('IMPORT_INVALID');
    expect(await refusal(file, { size: 7 })).toBe('IMPORT_INVALID');
  });

  it('over its limits of bytes or rows is refused, and at the limits is not', async () => {
    const file = `${csvHeader}\nAda,,,,\nBob,,,,\n`;
    const bytes = Buffer.byteLength(file);
    expect(await refusal(file, { maxBytes: bytes })).toBe('accepted');
    expect(await refusal(file, { maxBytes: bytes - 1 })).toBe('IMPORT_TOO_LARGE');
    expect(await refusal(file, { maxRows: 2 })).toBe('accepted');
    expect(await refusal(file, { maxRows: 1 })).toBe('IMPORT_TOO_LARGE');
  });
});
