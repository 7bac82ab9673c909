// What the console makes of the columns and cells of an import's file.
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { delimiterOf, firstRecord } from '../../../schemas/batches/delimiter.rules.js';
import { columnMapping, fieldOfHeader, ownCells, readHeader } from '../../../schemas/batches/importColumns.rules.js';
import { csvLine, delimiters } from '../../../schemas/shared/csv.rules.js';

// The console is compiled by itself, so its modules have no types here.
const module = '../../../console/pages/importFile.js';
type Fields = Record<string, string>;
interface ImportFile {
  fieldsOf: (titles: string[]) => Fields;
  titlesOf: (cells: string[]) => string[];
  openTitles: (meant: Fields) => string[];
  canBeFound: (meant: Fields) => boolean;
  mappingOf: (meant: Fields) => Record<string, string | null>;
  leftOutTitles: (meant: Fields) => { unused: string[]; unknown: string[] };
  wrongCells: (row: WrongRow, read: { rows: string[][]; columns: Column[] }) => { title: string; text: string }[];
  sentenceOf: (row: WrongRow, columns: Column[]) => string;
  wrongTitles: (reason: string, titles: string[]) => string[];
  plainRows: (rows: string[][]) => string[][];
  guardedFile: (rows: string[][], separator: string) => string;
}
type Column = { header: string; field: string | null };
type WrongRow = { row: number; mistakes: { field?: string; display: string }[] };
const { fieldsOf, titlesOf, openTitles, canBeFound, mappingOf, ...file }: ImportFile = await import(module);
const { leftOutTitles, wrongCells, sentenceOf, wrongTitles, plainRows, guardedFile } = file;
const csvModule = '../../../console/csv.js';
interface Csv {
  parseCsv: (text: string, separator?: string) => string[][];
  separatorOf: (text: string) => string;
}
const { parseCsv, separatorOf }: Csv = await import(csvModule);

it('has columns without a decision while a field is missing or stands twice', () => {
  expect(openTitles({ Name: '?', Size: '', Colour: '', Mail: 'email' })).toEqual(['Name']);
  expect(openTitles({ Telefon: 'phone', Handy: 'phone', Mail: 'email' })).toEqual(['Telefon', 'Handy']);
  expect(openTitles({ Telefon: 'phone', Handy: '', Mail: 'email' })).toEqual([]);
});

it('finds members again by any of email, phone and number', () => {
  for (const field of ['email', 'phone', 'externalId'])
    expect(canBeFound({ Title: field, Name: 'firstName' })).toBe(true);
  expect(canBeFound({ Name: 'firstName', Family: 'lastName', Points: 'initialPoints', Mail: '' })).toBe(false);
});

it('maps what the service cannot read by itself, and leaves it the columns by which it knows an errors.csv', () => {
  const titles = titlesOf(['row', 'EMAIL', 'Vorname', 'Size', '', 'email', 'reason']);
  expect(titles).toEqual(['row', 'email', 'Vorname', 'Size', 'reason']);
  expect(mappingOf(fieldsOf(titles))).toEqual({ Vorname: 'firstName', Size: null });
});

it('says which columns are left out, those that members have no field for apart from unknown ones', () => {
  const meant = fieldsOf(['E-Mail', 'Geburtstag', 'Schuhgröße', 'row']);
  expect(leftOutTitles(meant)).toEqual({ unused: ['Geburtstag'], unknown: ['Schuhgröße'] });
  expect(mappingOf(meant)).toEqual({ 'E-Mail': 'email', Geburtstag: null, Schuhgröße: null });
  expect(leftOutTitles({ ...meant, Geburtstag: 'lastName', 'E-Mail': '' }).unused).toEqual([]);
});

it.each([
  ['sep=;\r\nVorname;Mail\r\nAda;a@b.example', 'a line that names the separator'],
  ['Vorname;Mail\rAda;a@b.example\r', 'lines that end with CR'],
  ['\ufeffVorname\tMail\n\t\nAda\ta@b.example', 'tabs, and a line of blanks'],
])('%j, with %s, has the titles and rows that the service reads', (text) => {
  expect(parseCsv(text)).toEqual([
    ['Vorname', 'Mail'],
    ['Ada', 'a@b.example'],
  ]);
});

it.each([
  ['\r\nVorname;Nachname;E-Mail\r\nAda;Iloul;a@b.example', ';', 'an empty line before its titles'],
  ['"Nachname, Vorname";E-Mail\nIloul;a@b.example', ';', 'the other separator within a title'],
  ['row;"Name, a, b, c, d";E-Mail;reason\n1;x;y;z', ';', 'many of them within a title'],
  ['\ufeff;;;\n"Two\nlines"\tE-Mail', '\t', 'a title of two lines, and nothing after it'],
  ['Nachname,"Punkte;Stempel;Mail"\n1,2', ',', 'fewer of them'],
  ['a;"b\n1;2', ';', 'an open quote'],
  ['', ',', 'nothing'],
])('%j is separated by %j, with %s', (text, separator) => {
  expect(separatorOf(text)).toBe(separator);
});

it('has the separator by which the service reads it with the mapping that the console sends', () => {
  const title = fc.constantFrom(
    'Vorname',
    'E-Mail',
    'Ort, Land',
    'a;b',
    'Punkte',
    'x',
    'Tel\tMobil',
    'Größe "L"',
    'Notiz',
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(title, { minLength: 2 }),
      fc.constantFrom(...delimiters),
      fc.constantFrom('', '\n', ';;\r\n'),
      (titles, separator, before) => {
        const text = `${before}${csvLine(titles, separator)}1,2;3\r\n`;
        const found = separatorOf(text);
        const mapping = columnMapping.parse(mappingOf(fieldsOf(titlesOf(parseCsv(text)[0] ?? []))));
        const isKnown = (cell: string) => fieldOfHeader(cell, mapping) !== undefined;
        expect(delimiterOf(firstRecord(text) ?? '', isKnown)).toBe(found);
      },
    ),
  );
});

it('has the rows that the service reads from any file that is CSV', () => {
  const ends = ['\n', '\r\n', '\r'];
  const parts = fc.constantFrom('a', 'ü', ' ', '"', '"b"', '""', ';', ';', ...ends);
  const pre = { bom: true, delimiter: ';', record_delimiter: ends };
  const lenient = { relax_column_count: true, skip_records_with_empty_values: true };
  const text = fc.array(parts, { maxLength: 25 }).map((all) => `title;other\r\n${all.join('')}`);
  let compared = 0;
  const readByService = (given: string): string[][] | undefined => {
    try {
      return parse(given, { ...pre, ...lenient });
    } catch {
      return undefined;
    }
  };
  fc.assert(
    fc.property(text, (given) => {
      const rows = readByService(given);
      if (rows === undefined) return;
      compared += 1;
      expect(parseCsv(given)).toEqual(rows.map((row) => row.map((cell) => cell.replaceAll(/\r\n?/g, '\n'))));
    }),
    { numRuns: 2_000 },
  );
  expect(compared).toBeGreaterThan(500);
});

it('shows the cells and titles of an errors.csv without their guard, and sends them so that the service reads the same', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('"', ' a ', ';', '\n', '=1', "'=1", "''+1", 'a;=1', '+48 600', '-5'),
  );
  const titles = fc.uniqueArray(fc.constantFrom('+Tel', '=Name', "'@Mail", '-', 'Ort'), { minLength: 1 });
  const file = titles.chain((own) => {
    const row = fc.array(text, { minLength: own.length, maxLength: own.length });
    return fc.record({ own: fc.constant(own), rows: fc.array(row, { minLength: 1, maxLength: 5 }) });
  });
  fc.assert(
    fc.property(file, fc.constantFrom(...delimiters), ({ own, rows }, separator) => {
      const written = [['row', ...own, 'reason'], ...rows.map((cells, at) => [String(at), ...cells, 'wrong'])];
      const shown = plainRows(parseCsv(guardedFile(written, separator), separator));
      expect(shown).toEqual(written.map((cells) => cells.map((one) => one.replaceAll(/\r\n?/g, '\n'))));
      expect(titlesOf(shown[0] ?? [])).toEqual(['row', ...own, 'reason']);
      const mapping = columnMapping.parse(Object.fromEntries(own.map((title) => [title, null])));
      const sent = parse(guardedFile(shown, separator), { delimiter: separator });
      const columns = readHeader(sent[0] ?? [], mapping.set(own[0]?.toLowerCase() ?? '', 'phone'));
      expect(columns.fields).toEqual([null, 'phone', ...own.slice(1).map(() => null), null]);
      expect(sent.slice(1).map((cells) => ownCells(cells, columns))).toEqual(
        shown.slice(1).map((cells) => cells.slice(1, -1)),
      );
    }),
  );
});

it('leaves the cells of other files as they are', () => {
  const rows = [
    ["'+Tel", 'reason'],
    ["'=1", ''],
  ];
  expect(plainRows(rows)).toEqual(rows);
});

it.each([
  [
    'a;b\n1;"2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  ['a;"b\n1;2', [['a', 'b\n1;2']]],
])('shows what is there of %j, whose last quote is open', (text, rows) => {
  expect(parseCsv(text)).toEqual(rows);
});

describe('the cells of a failed row', () => {
  const columns = [
    { header: 'Name', field: 'firstName' },
    { header: 'Size', field: null },
    { header: 'Mail', field: 'email' },
  ];
  const rows = [
    ['Name', 'Size', 'Mail'],
    ['Ada', '37', 'ada@example.com'],
    ['Grace', '38', 'grace at example.com'],
  ];
  const row = (...fields: (string | undefined)[]) => ({
    row: 2,
    mistakes: fields.map((field) => ({ ...(field && { field }), display: 'ist falsch' })),
  });
  const mail = { title: 'Mail', text: 'grace at example.com' };

  it('are those that its mistakes name, counted from the first row below the headings', () => {
    expect(wrongCells(row('email'), { rows, columns })).toEqual([mail]);
    expect(wrongCells(row('email', 'firstName'), { rows, columns })).toEqual([{ title: 'Name', text: 'Grace' }, mail]);
    expect(sentenceOf(row('email', 'firstName'), columns)).toBe('Mail: ist falsch; Name: ist falsch');
  });

  it('are none when a mistake is about the whole row or the file was not read', () => {
    expect(wrongCells(row(undefined), { rows, columns })).toEqual([]);
    expect(sentenceOf(row(undefined), columns)).toBe('ist falsch');
    expect(wrongCells(row('email'), { rows: [], columns })).toEqual([]);
  });

  it('are found in the file of the failed rows by the titles in its reason', () => {
    const titles = ['Mail', 'E-Mail', 'Punkte'];
    expect(wrongTitles('E-Mail: ist falsch („x“); Punkte: ist falsch („Mail: 3“) – Zeile 3', titles)).toEqual([
      'E-Mail',
      'Punkte',
    ]);
    expect(wrongTitles('die Zeile hat 4 Zellen – Zeile 3', titles)).toEqual([]);
  });
});
