// What the console makes of the columns and cells of an import's file.
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

// The console is compiled by itself, so its modules have no types here.
const module = '../../../console/pages/importFile.js';
type Fields = Record<string, string>;
interface ImportFile {
  fieldsOf: (titles: string[]) => Fields;
  titlesOf: (cells: string[]) => string[];
  openTitles: (meant: Fields) => string[];
  canBeFound: (meant: Fields) => boolean;
  mappingOf: (meant: Fields) => Record<string, string | null>;
  wrongCells: (
    failure: { row: number; reason: string },
    read: { rows: string[][]; columns: { header: string; field: string | null }[] },
  ) => string[];
}
const { fieldsOf, titlesOf, openTitles, canBeFound, mappingOf, wrongCells }: ImportFile = await import(module);
const csvModule = '../../../console/csv.js';
interface Csv {
  parseCsv: (text: string) => string[][];
  toCsv: (rows: string[][], separator: string) => string;
}
const { parseCsv, toCsv }: Csv = await import(csvModule);

const common: Fields = {
  firstName: 'First name, GIVEN-NAME, forename, Vorname, Prénom, prenom, Nombre, Nome, Vorname Kunde, first_name',
  lastName:
    'Surname, Last Name, Family name, Nachname, Familienname, Nom de famille, Apellidos, Primer apellido, Cognome',
  email: `E-Mail-Adresse, E-mail, EMAIL, email_address, eMail, Mailadresse, E-Mail (privat), Kunden-E-Mail, Adresse e-mail,
    Courriel, Adresse électronique, Correo electrónico, CORREO_ELECTRONICO, Dirección de correo electrónico,
    Indirizzo e-mail, Posta elettronica, Email du client, E-mail 1 - Value, emailAddress`,
  phone: `Phone, Phone no., Phone Number, Mobile, Tel., Telefon, Telefonnummer, Telefon-Nr., Mobilnummer, Handy, Handynummer,
    Téléphone, N° de téléphone, Numéro de téléphone, Portable, Teléfono, Número de teléfono, Móvil, Telefono,
    Numero di cellulare, Cellulare, Contact number, phone_1`,
  initialPoints: `Stamps, Stempel, Points, Punktestand, Balance, Points balance, Treuepunkte, Anzahl Stempel, Solde de points,
    Nombre de points, Tampons, Puntos, Saldo, Sellos, Punti, Saldo punti, Punti fedeltà, Timbri, Aktueller Punktestand`,
  externalId: `Kundennummer, Kunden-Nr., KdNr, Kartennummer, Mitglieds-Nr, Kundenkartennummer, Treuekarten-Nr, Customer number,
    customer_id, Customer no, Card Number, Member ID, membershipNumber, Loyalty card number, External ID, externalId,
    Numéro de client, N° client, N° de carte, Numéro d'adhérent, Code client, Número de cliente, Nº de tarjeta,
    Número de socio, Código de cliente, Numero cliente, Codice cliente, Numero tessera, N. carta fedeltà, Kunden ID`,
};
const spellings = Object.entries(common).flatMap(([field, titles]) =>
  titles.split(',').map((title) => [title.trim(), field] as const),
);

it.each(spellings)('a column with the title %s is read as the field %s', (title, field) => {
  expect(fieldsOf([title])).toEqual({ [title]: field });
});

it('case, accents, hyphens, blanks and underscores of a title do not count', () => {
  const written = fc.tuple(
    fc.constantFrom(...spellings.filter(([title]) => !/\p{Lu}.*\p{Lu}/u.test(title))),
    fc.constantFrom(' ', '-', '_', '\u00a0', '\u2011', '  '),
    fc.boolean(),
    fc.constantFrom('NFC', 'NFD'),
  );
  fc.assert(
    fc.property(written, ([[title, field], blank, isUpper, form]) => {
      const spelled = title.replaceAll(/[ _-]/g, blank).normalize(form);
      const given = ` ${isUpper && !/\p{Ll}\p{Lu}/u.test(spelled) ? spelled.toUpperCase() : spelled} `;
      expect(fieldsOf([given])).toEqual({ [given]: field });
    }),
  );
});

it.each([
  'Shoe size',
  'Postal code',
  'Code postal',
  'Birthday',
  'Member since',
  'Notes',
  'Adresse',
  'Telefax',
  'Newsletter',
  '§§',
])('a column with the title %s is left out', (title) => {
  expect(fieldsOf([title])).toEqual({ [title]: '' });
});

it('asks about two columns for one field, and about a title that has two meanings', () => {
  expect(fieldsOf(['Stamps', 'Balance', 'Size', 'Colour'])).toEqual({
    Stamps: '?',
    Balance: '?',
    Size: '',
    Colour: '',
  });
  expect(fieldsOf(['Telefon', 'Handy', 'E-Mail'])).toEqual({ Telefon: '?', Handy: '?', 'E-Mail': 'email' });
  for (const title of ['Name', 'Nom', 'Full name', 'Nombre y apellidos', 'Kunde', 'ID', 'Nr.', 'Kundenkarte'])
    expect(fieldsOf([title, 'Vorteil'])).toEqual({ [title]: '?', Vorteil: '' });
});

it('reads Name by the column of the other name', () => {
  expect(fieldsOf(['Name', 'Vorname'])).toEqual({ Name: 'lastName', Vorname: 'firstName' });
  expect(fieldsOf(['Prénom', 'Nom'])).toEqual({ Prénom: 'firstName', Nom: 'lastName' });
  expect(fieldsOf(['Name', 'Surname'])).toEqual({ Name: 'firstName', Surname: 'lastName' });
  expect(fieldsOf(['First name', 'Name', 'Surname']).Name).toBe('');
  expect(fieldsOf(['Nr', 'Kundennummer']).Nr).toBe('');
});

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

it('reads the corrected rows as they were written, with any separator', () => {
  const cell = fc.oneof(fc.string(), fc.constantFrom('"', ' a ', ';', '\n', '=1', '\ufeff'));
  const row = fc.array(cell, { minLength: 2, maxLength: 4 }).filter((cells) => cells.some((one) => one.trim() !== ''));
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), fc.constantFrom(',', ';', '\t'), (rows, separator) => {
      const file = toCsv([['row', 'reason'], ...rows], separator);
      const kept = rows.map((cells) => cells.map((one) => one.replaceAll(/\r\n?/g, '\n')));
      expect(parseCsv(file)).toEqual([['row', 'reason'], ...kept]);
    }),
  );
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
  const cells = (row: number, reason: string) => wrongCells({ row, reason }, { rows, columns });

  it('are those that its reasons name, counted from the first row below the headings', () => {
    expect(cells(2, 'email: must be an email address')).toEqual(['Mail: grace at example.com']);
    expect(cells(2, 'email: must be an email address; firstName: must be shorter')).toEqual([
      'Name: Grace',
      'Mail: grace at example.com',
    ]);
  });

  it('are none when the reason is about the whole row or the file was not read', () => {
    expect(cells(2, 'the row has 4 cells where the header has 3')).toEqual([]);
    expect(wrongCells({ row: 2, reason: 'email: must be an email address' }, { rows: [], columns })).toEqual([]);
  });
});
