// The bytes of a file are parsed to the rows that were written, in any charset, with any delimiter and in any chunks; a
// file that is no CSV of members is refused as a whole.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRows } from '../../../api/batches/imports/uploadRows.rules.js';
import type { ImportRow } from '../../../schemas/batches/batches.rows.js';
import { columnMapping } from '../../../schemas/batches/importColumns.rules.js';
import type { Charset } from '../../../schemas/batches/importFile.rules.js';
import { csvLine, delimiters } from '../../../schemas/shared/csv.rules.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import spectrum from '../../corpora/csvSpectrum.json' with { type: 'json' };
import { csvHeader } from '../../rig/start/imports.js';

const program = { style: 'points' as const };

interface Options {
  size?: number;
  maxBytes?: number;
  maxRows?: number;
  charset?: Charset;
  mapping?: Record<string, 'firstName' | 'lastName' | 'email' | 'phone' | 'externalId' | null>;
}

async function* toChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function read(file: string | Buffer, options: Options = {}) {
  const { size = 65_536, maxBytes = 1_048_576, maxRows = 5_000, charset, mapping = {} } = options;
  const bytes = typeof file === 'string' ? Buffer.from(file) : file;
  const given = { bytes: toChunks(bytes, size), charset };
  const parsed = columnMapping.parse(mapping);
  const { chunks, ...read } = await readRows({ file: given, program, maxBytes, maxRows, mapping: parsed });
  const rows: ImportRow[] = [];
  for await (const chunk of chunks) rows.push(...chunk);
  return { ...read, rows };
}

const failure = (file: string | Buffer, options?: Options): Promise<ServiceError> =>
  read(file, options).then(
    () => Promise.reject(new Error('It was accepted.')),
    (error: unknown) => (error instanceof ServiceError ? error : Promise.reject(error)),
  );

const refusal = (file: string | Buffer, options?: Options) =>
  read(file, options).then(
    () => 'accepted',
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  );

/** An independent CSV writer that quotes every cell, as RFC 4180 allows. */
const quotedLine = (cells: readonly string[], delimiter = ',') =>
  cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter);

function formOf(name: string): { bytesOf: (text: string) => Buffer; charset: Charset } {
  const [bytesOf, charset] = forms[name] ?? [];
  if (!bytesOf || !charset) throw new Error(`No form ${name}.`);
  return { bytesOf, charset };
}

const bigEndian = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
/** The encodings of a file of any text. */
const forms: Record<string, [bytesOf: (text: string) => Buffer, charset: Charset]> = {
  'UTF-8': [(text) => Buffer.from(text), 'utf-8'],
  'UTF-8 with a mark': [(text) => Buffer.from(`\uFEFF${text}`), 'utf-8'],
  'UTF-16 LE with a mark': [(text) => Buffer.from(`\uFEFF${text}`, 'utf16le'), 'utf-16le'],
  'UTF-16 LE': [(text) => Buffer.from(text, 'utf16le'), 'utf-16le'],
  'UTF-16 BE with a mark': [(text) => bigEndian(`\uFEFF${text}`), 'utf-16be'],
  'UTF-16 BE': [bigEndian, 'utf-16be'],
};

describe('a file', () => {
  it('is parsed to the rows that were written, in any charset, with any delimiter, line ends and chunks', async () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom('"', '""', ',', ';', '\t', '\n', '\r\n', '\r', 'a\nb', 'é', '\u{1F600}', '=1+1', ' ', '1,5;2'),
    );
    const row = fc
      .tuple(cell, cell, cell, cell, cell)
      .filter(
        (cells) => cells.every((text) => text.isWellFormed() && !text.includes('\0')) && cells.join('').trim() !== '',
      );
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 12 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.constantFrom(...Object.keys(forms)),
        fc.constantFrom(',', ';', '\t'),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async (written, end, name, delimiter, size, isNamed) => {
          const { bytesOf, charset } = formOf(name);
          const header = csvHeader.split(',').join(delimiter);
          const named = isNamed ? [`sep=${delimiter}`] : [];
          const text = `${[...named, header, ...written.map((cells) => quotedLine(cells, delimiter))].join(end)}${end}`;
          const { rows, ...found } = await read(bytesOf(text), { size });
          expect(rows.map(({ cells }) => cells)).toEqual(written);
          expect(rows.map((entry) => entry.row)).toEqual(written.map((_, index) => index + 1));
          expect(found).toMatchObject({ delimiter, charset });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('may have cells that a program wrapped for spreadsheets without quoting them, wherever its chunks end', async () => {
    const file = [
      'externalId;firstName;lastName',
      '="0012";="Ada";"a,="',
      '="00;13";Bo;',
      '"=""0014""";"x\n";"=""y"""',
      '="0015";;="Z"',
    ];
    const wrapped = async (lines: string[], size: number) =>
      (await read(lines.join('\n'), { size })).rows.map(({ cells }) => cells);
    const good = [file[0] ?? '', file[1] ?? '', file[3] ?? '', file[4] ?? ''];
    for (const size of [1, 2, 3, 7, 1_000])
      expect(await wrapped(good, size)).toEqual([
        ['="0012"', '="Ada"', 'a,='],
        ['="0014"', 'x\n', '="y"'],
        ['="0015"', '', '="Z"'],
      ]);
    const { rows } = await read('externalId\r="0016"\r="a b"');
    expect(rows.map(({ person }) => person?.externalId)).toEqual(['0016', 'a b']);
    expect(await refusal(file.join('\n'))).toBe('IMPORT_INVALID');
  });

  it('skips empty lines and lines with only commas', async () => {
    const { rows } = await read(`\n${csvHeader}\n\nAda,,,,\n,,,,\n  \nBob,,,,\n\n`);
    expect(rows.map(({ row, person }) => [row, person?.firstName])).toEqual([
      [1, 'Ada'],
      [2, 'Bob'],
    ]);
  });

  it('gives each row the line of the file at which it begins, with every line counted', async () => {
    const cell = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('a\nb', 'a\r\n\r\nb', 'a\rb', '\n', 'x'));
    const cells = fc.array(cell, { minLength: 5, maxLength: 5 });
    const blank = fc.constantFrom('', '  ', ',,,,', '"","","","",""').map((text) => ({ text, isRow: false }));
    const record = cells
      .filter((all) => all.some((one) => one.trim() !== ''))
      .map((all) => ({ text: quotedLine(all), isRow: true }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(blank, record), { maxLength: 12 }),
        fc.array(blank, { maxLength: 2 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
        fc.integer({ min: 1, max: 40 }),
        async (below, above, end, isNamed, size) => {
          const shown = [...above, { text: csvHeader, isRow: false }, ...below];
          const text = shown.map((one) => `${one.text}${end}`);
          const before = (index: number) =>
            text
              .slice(0, index)
              .join('')
              .split(/\r\n?|\n/).length;
          const expected = shown.flatMap(({ isRow }, index) => (isRow ? [before(index)] : []));
          // A spreadsheet does not show the line that names the separator.
          const { rows } = await read(`${isNamed ? `sep=,${end}` : ''}${text.join('')}`, { size });
          expect(rows.map(({ line }) => line)).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('with only a header has no rows', async () => {
    expect((await read(csvHeader)).rows).toEqual([]);
  });

  it('is parsed to chunks of at most 100 rows', async () => {
    const file = Buffer.from(`email\n${Array.from({ length: 601 }, (_, index) => `p${index}@example.com`).join('\n')}`);
    const bytes = toChunks(file, 1_000);
    const { chunks } = await readRows({ file: { bytes }, program, maxBytes: 1e6, maxRows: 1e6 });
    const sizes: number[] = [];
    for await (const chunk of chunks) sizes.push(chunk.length);
    expect(sizes).toEqual([100, 100, 100, 100, 100, 100, 1]);
  });

  const hostile: [string, string | Buffer][] = [
    ['that is empty', ''],
    ['of nothing but a mark', '\uFEFF'],
    ['in UTF-16 that ends within a character', Buffer.from(`\uFEFF${csvHeader}\nAda,,,,\n`, 'utf16le').subarray(0, -1)],
    ['in UTF-16 with half a pair', Buffer.from(`\uFEFF${csvHeader}\nA\ud83dda,,,,\n`, 'utf16le')],
    ['in UTF-32', Buffer.from([...csvHeader].flatMap((character) => [character.charCodeAt(0), 0, 0, 0]))],
    ['of numbers, which is no text', Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 7919) % 256))],
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

describe('a file as Excel writes it', () => {
  it.each(['sep=;', 'SEP=;', '"sep=;"', 'sep=;;;'])('begins with the separator of its cells: %s', async (line) => {
    const text = `\uFEFF${line}\r\nemail;firstName\r\nada@example.com;"Ada, Countess"\r\n`;
    const { rows, delimiter } = await read(text, { size: 3 });
    expect(delimiter).toBe(';');
    expect(rows.map(({ person }) => person)).toEqual([{ email: 'ada@example.com', firstName: 'Ada, Countess' }]);
  });

  it('takes the named separator even if another would know more columns', async () => {
    const { delimiter } = await read('sep=\t\nfirstName;email\tphone\n', { mapping: { 'firstName;email': null } });
    expect(delimiter).toBe('\t');
  });

  it('is refused with a separator that no import takes, and when nothing follows', async () => {
    expect((await failure('sep=|\nemail|firstName\n')).message).toContain('neither comma nor semicolon nor tab');
    expect((await failure('sep=;')).message).toContain('it is empty');
    expect((await failure('sep=;\r\n')).message).toContain('it is empty');
  });

  it('may have columns without a header as long as no row has text in them', async () => {
    const rows = Array.from({ length: 150 }, (_, index) => `p${index}@example.com;;Ada;;`);
    const text = `email;;firstName;;\r\n${rows.join('\r\n')}\r\n`;
    expect((await read(text)).rows.filter(({ person }) => person?.firstName === 'Ada')).toHaveLength(150);
    const refused = await failure(`${text}last@example.com;;Ada;note;\r\n`);
    expect(refused).toMatchObject({
      code: 'IMPORT_INVALID',
      details: { unknownColumns: [{ column: 4, header: '', nearest: null }] },
    });
  });

  it('names the line that opens a quote which is never closed, wherever the file ends', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('Ada,a@example.com', '"A\r\nda","x\ny"', '', ',', '"Ada","a"'), { maxLength: 9 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.constantFrom('"Grace,g@example.com', 'Grace,"g@example.com', '"1\r\n2","g@example.com'),
        fc.constantFrom(1, 200, 4_000),
        fc.constantFrom('Bob,b@example.com', '"Bob","b@example.com"'),
        async (before, end, opening, count, after) => {
          const lines = ['firstName,email', ...before, opening, ...Array.from({ length: count }, () => after)];
          const upTo = ['firstName,email', ...before, opening.slice(0, opening.lastIndexOf('"'))].join(end);
          const line = upTo.split(/\r\n|\r|\n/).length;
          expect((await failure(lines.join(end), { size: 1_000 })).message).toContain(`in line ${line} it `);
        },
      ),
    );
  });

  it('whose lines end with CR has no limit but that of each line', async () => {
    const line = `ada@example.com,${'A'.repeat(90)}`;
    const text = ['email,firstName', ...Array.from({ length: 2_000 }, () => line)].join('\r');
    expect((await read(text)).rows).toHaveLength(2_000);
  });
});

describe('a spreadsheet of Europe', () => {
  const headers = 'Vorname;Nachname;E-Mail;Mobil;Punkte;Kartennummer;Bemerkung';
  const people = 'Jürgen;Müßig;juergen@example.com;+49 170 1234567;12;4001234;"„Stammgast“ – 5 €; bar"\r\n';
  const mapping = {
    vorname: 'firstName',
    Nachname: 'lastName',
    'E-Mail': 'email',
    MOBIL: 'phone',
    Kartennummer: 'externalId',
    Bemerkung: null,
  } as const;
  const latin = Buffer.from(
    people.replace('„', '\x84').replace('“', '\x93').replace('–', '\x96').replace('€', '\x80'),
    'latin1',
  );
  const file = Buffer.concat([Buffer.from(`${headers}\r\n`), latin]);

  it('is read by its mapping and the charset that the caller named', async () => {
    const { rows, header } = await read(file, { charset: 'windows-1252', mapping: { ...mapping, Punkte: null } });
    expect(header).toEqual(headers.split(';'));
    expect(rows).toEqual([
      {
        row: 1,
        line: 2,
        cells: ['Jürgen', 'Müßig', 'juergen@example.com', '+49 170 1234567', '12', '4001234', '„Stammgast“ – 5 €; bar'],
        person: {
          firstName: 'Jürgen',
          lastName: 'Müßig',
          email: 'juergen@example.com',
          phone: '+49 170 1234567',
          externalId: '4001234',
        },
      },
    ]);
  });

  it('of an unnamed charset is refused with the first byte that is not UTF-8', async () => {
    for (const size of [65_536, 3]) {
      const { code, message } = await failure(file, { mapping: { ...mapping, Punkte: null }, size });
      expect(code).toBe('IMPORT_INVALID');
      expect(message).toContain('line 2 it is not UTF-8 (byte 0xfc)');
      expect(message).toContain('charset=windows-1252');
    }
  });

  it('with unknown columns is refused with their names and the nearest known ones', async () => {
    const { code, details, message } = await failure(file, { charset: 'windows-1252' });
    expect(code).toBe('IMPORT_INVALID');
    expect(details).toMatchObject({
      unknownColumns: [
        { column: 1, header: 'Vorname', nearest: null },
        { column: 2, header: 'Nachname' },
        { column: 3, header: 'E-Mail', nearest: 'email' },
        { column: 4, header: 'Mobil' },
        { column: 5, header: 'Punkte' },
        { column: 6, header: 'Kartennummer' },
        { column: 7, header: 'Bemerkung' },
      ],
      columns: ['firstName', 'lastName', 'email', 'phone', 'initialPoints', 'externalId'],
    });
    expect(message).not.toContain('Vorname');
  });

  it('has every character of windows-1252', async () => {
    const upper = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';
    const bytes = Buffer.from('8082838485868788898a8b8c8e9192939495969798999a9b9c9e9f', 'hex');
    const { rows } = await read(Buffer.concat([Buffer.from('firstName\n'), bytes]), { charset: 'windows-1252' });
    expect(rows[0]?.person?.firstName).toBe(upper);
    const high = Buffer.from(Array.from({ length: 95 }, (_, index) => 0xa1 + index));
    const rest = await read(Buffer.concat([Buffer.from('firstName\n'), high]), { charset: 'windows-1252' });
    expect(rest.rows[0]?.person?.firstName).toBe(String.fromCharCode(...high));
  });

  it('that begins with a byte order mark has the charset of the mark, whatever the caller named', async () => {
    for (const name of ['UTF-8 with a mark', 'UTF-16 BE with a mark']) {
      const { bytesOf, charset } = formOf(name);
      const found = await read(bytesOf('firstName;email\nJürgen;\n'), { charset: 'windows-1252' });
      expect([found.charset, found.rows[0]?.person]).toEqual([charset, { firstName: 'Jürgen' }]);
    }
  });
});

describe.each(Object.keys(forms))('the files of csv-spectrum in %s', (name) => {
  it.each(Object.entries(spectrum))('are read as they are meant: %s', async (_file, { csv, rows }) => {
    const { bytesOf, charset } = formOf(name);
    const [first = '', ...others] = (csv.split('\n')[0] ?? '').split(',');
    const mapping = { [first]: 'firstName' as const, ...Object.fromEntries(others.map((header) => [header, null])) };
    for (const text of [csv, csv.replaceAll('\n', '\r\n')]) {
      const ends = text === csv ? (cell: string) => cell : (cell: string) => cell.replaceAll('\n', '\r\n');
      const found = await read(bytesOf(text), { mapping, size: 5 });
      expect(found.charset).toBe(charset);
      expect(found.rows.map(({ cells }) => cells)).toEqual(rows.map((cells) => cells.map(ends)));
    }
  });
});

describe('a file that is not CSV', () => {
  it.each([
    ['a workbook', '504b030414000600', 'workbook (.xlsx'],
    ['an old workbook', 'd0cf11e0a1b11ae1', 'old Excel (.xls)'],
    ['a compressed file', '1f8b0800', 'gzip'],
    ['a document', '255044462d312e37', 'PDF'],
  ])('is refused by its name: %s', async (_name, hex, said) => {
    const bytes = Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(2_000)]);
    expect((await failure(bytes)).message).toContain(said);
  });
});

describe('the delimiter', () => {
  it.each([
    ['email', ','],
    ['email;firstName', ';'],
    ['email\tfirstName', '\t'],
    ['"Name, Vorname";email', ';'],
    ['"email, privat"\temail', '\t'],
    ['"many\nlines";email;firstName', ';'],
  ])('of %j is found in the header', async (header, delimiter) => {
    const mapping = { 'Name, Vorname': null, 'email, privat': null, 'many\nlines': null };
    const before = `\n ${delimiter}${delimiter}\n`;
    expect((await read(`${before}${header}\n`, { mapping })).delimiter).toBe(delimiter);
  });
});

describe('errors.csv or known.csv that is uploaded again', () => {
  it('brings back every cell as it was sent, also those of rows with too many or too few cells', async () => {
    const cell = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'x;\t,\n"\'=-+@1:'), maxLength: 10 }),
      fc.string({ unit: 'grapheme', maxLength: 8 }).filter((text) => text.isWellFormed() && !text.includes('\0')),
      fc.constantFrom("'=1+1", '-:;\'=":', "''=1", '="0012"', '-5', "'-5", "'"),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 6 }),
        fc.constantFrom(...delimiters),
        fc.constantFrom('reason', 'pointsNotGiven'),
        async (sent, delimiter, last) => {
          const header = csvLine(['row', "'=First", 'email', last], delimiter);
          const lines = sent.map((cells, index) => csvLine([String(index + 1), ...cells, '12'], delimiter));
          const mapping = { "'=First": 'firstName' as const };
          const { rows, header: own } = await read(`\uFEFF${header}${lines.join('')}`, { mapping });
          expect(own).toEqual(["'=First", 'email']);
          expect(rows.map(({ cells }) => cells)).toEqual(sent);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each(['row,firstName', 'firstName,reason', 'pointsNotGiven,firstName', 'reason,firstName,row', 'firstName'])(
    'is told from the file %s, whose cells are not changed',
    async (header) => {
      const at = header.split(',').indexOf('firstName');
      const cells = header.split(',').map((_, index) => (index === at ? "'=1+1" : '1'));
      expect((await read(`${header}\n${cells.join(',')}\n`)).rows[0]?.person?.firstName).toBe("'=1+1");
    },
  );

  it('is read without the added columns and without the guard of its header', async () => {
    const file = "row,'+Tel,email,reason\r\n7,'+49 170 1234567,a@example.com,email: is wrong\r\n";
    const { header, rows } = await read(`\uFEFF${file}`, { mapping: { '+tel': 'phone' } });
    expect(header).toEqual(['+Tel', 'email']);
    expect(rows).toEqual([
      {
        row: 1,
        line: 2,
        cells: ['+49 170 1234567', 'a@example.com'],
        person: { phone: '+49 170 1234567', email: 'a@example.com' },
      },
    ]);
  });
});
