// The header and the rows of an import: what is read, which rows fail alone, and that no reason repeats a row's
// content.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importFields } from '../../../schemas/batches/columnTitles.rules.js';
import { columnMapping, ownCells, readHeader } from '../../../schemas/batches/importColumns.rules.js';
import { mistakeText } from '../../../schemas/batches/importMistakes.rules.js';
import { readRow } from '../../../schemas/batches/importRows.rules.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { languages } from '../../../schemas/shared/languages/index.js';

const points = { style: 'points' as const, goal: 100 };
const columns = readHeader(importFields);
const read = (cells: string[], program: Parameters<typeof readRow>[1]['program'] = points) =>
  readRow({ row: 1, line: 2, cells }, { columns, program });

describe('the header', () => {
  it('is recognised in any case and order, with white space around it', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...importFields], { minLength: 1 }), fc.func(fc.boolean()), (fields, upper) => {
        const cells = fields.map((field) => ` ${upper(field) ? field.toUpperCase() : field.toLowerCase()} `);
        expect(readHeader(cells).fields).toEqual(fields);
      }),
    );
  });

  it("may contain the columns that errors.csv adds, and those are not the merchant's own", () => {
    expect(readHeader(['row', 'email', 'Reason'])).toEqual({
      fields: [null, 'email', null],
      unnamed: new Set(),
      unused: [],
      isGuarded: true,
    });
  });

  it.each([
    ['a column of the same title', ['row', 'email', 'Reason', 'reason'], {}, []],
    ['one that a mapping leaves out', ['row', 'email', 'Reason', 'reason'], { Reason: null }, ['Reason']],
    ['one that a mapping gives a field', ['row', 'ROW', 'email', 'reason'], { row: 'externalId' }, []],
    ['a mapping that leaves out its last column', ['row', 'email', 'reason'], { reason: null }, []],
  ])(
    'of an errors.csv, with %s, has all but its first and last column as those of the merchant',
    (_what, cells, mapping, unused) => {
      const found = readHeader(cells, columnMapping.parse(mapping));
      expect(found).toMatchObject({ isGuarded: true, unused });
      expect([found.fields[0], found.fields.at(-1)]).toEqual([null, null]);
      expect(ownCells(cells, found)).toEqual(cells.slice(1, -1));
      expect(ownCells(['1', "'+49 30", 'new', 'wrong', 'too', 'many', 'reason'], found)[0]).toBe('+49 30');
    },
  );

  it.each([
    [['email', 'reason', 'firstName']],
    [['reason', 'email', 'row']],
    [['pointsNotGiven', 'email']],
    [['row', 'email']],
  ])('of another file, %j, has all its columns as those of the merchant', (cells) => {
    const found = readHeader(cells);
    expect(found).toMatchObject({ isGuarded: false, fields: expect.arrayContaining(['email', null]) });
    expect(found.unused).toEqual([]);
    expect(ownCells(cells, found)).toEqual(cells);
    expect(ownCells([...cells, 'one more'], found)).toEqual([...cells, 'one more']);
  });

  it('gets its fields from a mapping first, in any case; a mapping can also ignore columns', () => {
    const mapping = columnMapping.parse({ 'E-Mail ': 'email', Email: null, Notes: null, '': null, reason: 'lastName' });
    const cells = ['e-mail', 'EMAIL', 'notes', '', 'Reason', 'phone', 'Notes'];
    expect(readHeader(cells, mapping)).toEqual({
      fields: ['email', null, null, null, 'lastName', 'phone', null],
      unnamed: new Set(),
      unused: ['EMAIL', 'notes', 'Notes'],
      isGuarded: false,
    });
    expect(() => readHeader(['E-Mail', 'mail'], columnMapping.parse({ 'e-mail': 'email', mail: 'email' }))).toThrow(
      /column 2 of its first line repeats/,
    );
  });

  it.each([
    ['an unknown field', { Mail: 'e-mail' }],
    ['a number', { Mail: 5 }],
    ['a list', ['email']],
    ['a text', 'email'],
    ['too many columns', Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`c${index}`, null]))],
  ])('has no mapping of %s', (_what, mapping) => {
    expect(columnMapping.safeParse(mapping).success).toBe(false);
  });

  it.each([
    ['an unknown column', ['email', 'hobby'], /column 2/],
    ['a repeated column', ['email', 'phone', 'EMAIL'], /column 3.*repeats/],
    ['no known column', ['reason'], /no known header/],
    ['a person in its place', ['ada@example.com', 'Ada'], /columns 1, 2 /],
  ])('with %s refuses the file without repeating a cell', (_name, cells, message) => {
    const refused = (() => {
      try {
        return readHeader(cells);
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toBeInstanceOf(ServiceError);
    expect(refused).toMatchObject({ code: 'IMPORT_INVALID', message: expect.stringMatching(message) });
    expect(String(refused)).not.toMatch(/hobby|ada@|Ada\b/);
  });
});

describe('a row', () => {
  it('is a person, with empty cells as missing fields', () => {
    expect(read([' Ada ', '', ' ADA@example.com', '  ', '+7', ' 0042 '])).toMatchObject({
      person: { firstName: 'Ada', email: 'ada@example.com', initialPoints: 7, externalId: '0042' },
    });
    expect(read(['', '', '', '', '0', ''])).toMatchObject({ person: { initialPoints: 0 } });
  });

  it.each([
    ['1.5', 'initialPoints: must be a whole number'],
    ['-0', 'initialPoints: must be a whole number'],
    ['1e3', 'initialPoints: must be a whole number'],
    ['0x10', 'initialPoints: must be a whole number'],
    ['1,000', 'initialPoints: must be a whole number'],
    ['-1', /^initialPoints: /],
    ['1000000001', /^initialPoints: /],
    ['9'.repeat(30), 'initialPoints: must be a whole number'],
  ])('with %s points fails', (cell, reason) => {
    const { reason: said } = read(['', '', '', '', cell, '']);
    if (typeof reason === 'string') expect(said).toBe(reason);
    else expect(said).toMatch(reason);
  });

  it.each(['4,00123E+12', '4.00123e+12', '4E+10'])(
    'with %s as a card number, truncated by a spreadsheet, fails',
    (cell) => {
      expect(read(['', '', '', '', '', cell]).reason).toMatch(/^externalId: was shortened by a spreadsheet/);
    },
  );

  it('has a card number without the wrapping and the decimals of a spreadsheet', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Z"]{1,20}$/), fc.stringMatching(/^\d{1,15}$/), (code, digits) => {
        const externalId = (cell: string) => read(['Ada', '', '', '', '', cell]).person?.externalId;
        expect(externalId(`="${code.replaceAll('"', '""')}"`)).toBe(code);
        for (const end of ['', '.0', ',0', '.00', ',00']) expect(externalId(`${digits}${end}`)).toBe(digits);
      }),
    );
    expect(read(['="Ada"', '', '="ada@example.com"', '', '7.0', '']).person).toMatchObject({
      firstName: 'Ada',
      email: 'ada@example.com',
      initialPoints: 7,
    });
  });

  it.each(['1234567890123456.0', '12.000', '0,000'])('with the doubtful card number %s fails', (cell) => {
    expect(read(['', '', '', '', '', cell]).reason).toMatch(/^externalId: was written with decimals/);
  });

  it('tells all its faults and no other', () => {
    const faults: [number, string, RegExp][] = [
      [0, 'x'.repeat(101), /firstName: /],
      [2, 'no address', /email: /],
      [3, 'no number', /phone: /],
      [4, '12.5', /initialPoints: must be a whole number/],
      [4, '11', /initialPoints: must be at most the goal of 10/],
      [5, '4,001E+12', /externalId: was shortened/],
      [5, 'y'.repeat(65), /externalId: (?!was)/],
    ];
    fc.assert(
      fc.property(fc.subarray(faults, { minLength: 1 }), (some) => {
        const cells = Array.from({ length: 6 }, () => '');
        for (const [index, cell] of some) cells[index] = cell;
        const { reason = '' } = read(cells, { style: 'stamps', goal: 10 });
        const isLeftOut = some.length === 1 && some[0]?.[0] === 3;
        for (const [index, cell, said] of faults) expect(said.test(reason)).toBe(cells[index] === cell && !isLeftOut);
      }),
    );
  });

  it.each(['no number', '4,9170E+11', '030 123; 030 124', '@'])(
    'with %s as its only fault, in the column of phone numbers, is a person without one',
    (cell) => {
      const { person, leftOut, reason } = read(['Ada', '', 'ada@example.com', cell, '7', 'K-1']);
      expect({ person, leftOut, reason }).toEqual({
        person: { firstName: 'Ada', email: 'ada@example.com', initialPoints: 7, externalId: 'K-1' },
        leftOut: 'phone: must be a phone number',
      });
      expect(read(['', '', '', cell, '', ''])).toMatchObject({ person: {}, leftOut: /^phone: / });
    },
  );

  it.each([
    ['(555)\u00a0010\u20111234', '(555) 010-1234'],
    ['="0301234567"', '0301234567'],
    ['491701234567.0', '491701234567'],
    ['01.23.45.67.00', '01.23.45.67.00'],
  ])('has %s as the phone number %s', (cell, phone) => {
    expect(read(['', '', '', cell, '', ''])).toMatchObject({ person: { phone } });
  });

  it('over the goal of a stamps program fails, and at the goal does not', () => {
    const stamps = { style: 'stamps' as const, goal: 10 };
    expect(read(['', '', '', '', '11', ''], stamps).reason).toBe(
      'initialPoints: must be at most the goal of 10 on a stamps program',
    );
    expect(read(['', '', '', '', '10', ''], stamps).person).toEqual({ initialPoints: 10 });
  });

  it.each([
    ['email', 'no address', { rule: 'email' }],
    ['phone', 'ask', { rule: 'phone' }],
    ['firstName', 'x'.repeat(101), { rule: 'tooLong', limit: 100 }],
    ['lastName', 'a\u0007', { rule: 'characters' }],
    ['lastName', '\u202ea', { rule: 'characters' }],
    ['initialPoints', '1.5', { rule: 'whole' }],
    ['initialPoints', '-3', { rule: 'atLeast', limit: 0 }],
    ['initialPoints', '1000000001', { rule: 'atMost', limit: 1_000_000_000 }],
    ['externalId', '4,00123E+12', { rule: 'shortened' }],
    ['externalId', '12.000', { rule: 'decimals' }],
    ['externalId', 'y'.repeat(65), { rule: 'tooLong', limit: 64 }],
  ] as const)('has its mistake in %s of %j as a code, with a sentence in each language', (field, cell, mistake) => {
    const { mistakes = [] } = read(importFields.map((one) => (one === field ? cell : '')));
    expect(mistakes).toEqual([{ field, ...mistake }]);
    const said = languages.map((language) => mistakes.map((one) => mistakeText(language, one)).join());
    expect(new Set(said).size).toBe(languages.length);
    if ('limit' in mistake) for (const text of said) expect(text).toContain(String(mistake.limit));
  });

  it('with more or fewer cells than the header fails, and keeps its cells', () => {
    expect(read(['a', 'b'])).toEqual({
      row: 1,
      line: 2,
      cells: ['a', 'b'],
      reason: 'the row has 2 cells where the header has 6',
      mistakes: [{ rule: 'cells', given: 2, limit: 6 }],
    });
  });

  it('may have empty cells in and behind columns without a header, and lack the last of these', () => {
    const wide = readHeader(['email', ' ', 'firstName', '', '']);
    const lines = [
      ['', 'Ada'],
      ['', 'Ada', ''],
      [' ', 'Ada', '', ' '],
      ['', 'Ada', '', '', '', ' ', ''],
    ];
    for (const cells of lines.map((rest) => ['ada@example.com', ...rest]))
      expect(readRow({ row: 1, line: 2, cells }, { columns: wide, program: points })).toEqual({
        row: 1,
        line: 2,
        cells,
        person: { email: 'ada@example.com', firstName: 'Ada' },
      });
    expect(
      readRow({ row: 1, line: 2, cells: ['ada@example.com', ''] }, { columns: wide, program: points }).reason,
    ).toMatch(/^the row has 2 cells/);
  });

  it('with text in a column without a header refuses the file, unless the mapping names the column', () => {
    const given = ['email', '', 'firstName', ''];
    const line = { row: 1, line: 2, cells: ['ada@example.com', '', 'Ada', 'secret'] };
    expect(() => readRow(line, { columns: readHeader(given), program: points })).toThrow(/column 4 of its first line/);
    const mapped = readHeader(given, columnMapping.parse({ '': null }));
    expect(readRow(line, { columns: mapped, program: points }).person?.firstName).toBe('Ada');
  });

  it('names each wrong field without its content', () => {
    const cells = ['x'.repeat(101), 'Bad\u0007Name', 'secret-not-an-email', 'secret-phone', 'secret-points'];
    const { reason = '' } = read([...cells.slice(0, 4), '', 'y'.repeat(65)]);
    for (const field of ['firstName', 'lastName', 'email', 'phone', 'externalId'])
      expect(reason).toContain(`${field}: `);
    for (const cell of cells) expect(reason).not.toContain(cell);
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{12,20}$/), (secret) => {
        const failed = read([`${secret}\u0000`, secret, `${secret}@`, secret, secret, secret]);
        expect(failed.reason).toBeDefined();
        expect(failed.reason).not.toContain(secret);
      }),
    );
  });
});
