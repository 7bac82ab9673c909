// What the console takes the titles of columns for, and how the service then reads the file.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideColumns, importFields } from '../../../schemas/batches/columnTitles.rules.js';
import { columnMapping, readHeader } from '../../../schemas/batches/importColumns.rules.js';

// The console is compiled by itself, so its modules have no types here.
const module = '../../../console/pages/importFile.js';
interface ImportFile {
  fieldsOf: (titles: string[]) => Record<string, string>;
  openTitles: (meant: Record<string, string>) => string[];
  mappingOf: (meant: Record<string, string>) => Record<string, string | null>;
}
const { fieldsOf, openTitles, mappingOf }: ImportFile = await import(module);

const common: Record<string, string> = {
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
const unused =
  `Geburtstag, Geburtsdatum, Birthday, Date of birth, Date de naissance, Fecha de nacimiento, Data di nascita, Adresse,
  Address, Straße, PLZ, Postal code, Code postal, Código postal, CAP, Ort, Ville, Ciudad, Città, Land, Firma, Société, Empresa,
  Azienda, Anrede, Geschlecht, Telefax, Mitglied seit, Member since, Registration_date, STRASSE, postleitzahl`
    .split(',')
    .map((title) => title.trim());

/** How the service reads a file with this header that the console sends. */
const readAs = (header: string[]) => readHeader(header, columnMapping.parse(mappingOf(fieldsOf(header))));

it.each(spellings)('a column with the title %s is read as the field %s', (title, field) => {
  expect(fieldsOf([title])).toEqual({ [title]: field });
  expect(readAs([title])).toMatchObject({ fields: [field], unused: [] });
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
      expect(readAs([given, 'Ort'])).toMatchObject({ fields: [field, null], unused: ['Ort'] });
    }),
  );
});

it.each(unused)('%s, for which members have no field, is left out and named', (title) => {
  expect(decideColumns([title])).toEqual([{ is: 'unused' }]);
  expect(readAs(['email', title])).toMatchObject({ fields: ['email', null], unused: [title] });
});

it.each(['Shoe size', 'Notes', 'Notiz', 'Newsletter', 'Marketing', 'Hobby', '§§', 'ada@example.com'])(
  '%s, which is no known title, is left out where people see it, and named',
  (title) => {
    expect(decideColumns([title])).toEqual([{ is: 'unknown' }]);
    expect(readAs(['email', title])).toMatchObject({ fields: ['email', null], unused: [title] });
  },
);

describe('the service without a mapping', () => {
  it('refuses every title that is no name of a field, with its place and its header', () => {
    const title = fc.constantFrom(...spellings.map(([one]) => one), ...unused, 'Hobby', 'Name');
    fc.assert(
      fc.property(title, (one) => {
        fc.pre(!importFields.some((field) => field.toLowerCase() === one.toLowerCase()));
        expect(() => readHeader(['email', one])).toThrow(/column 2 of its first line has no known header/);
      }),
    );
  });

  it('reads the names of the fields in any case', () => {
    for (const field of importFields) expect(readHeader([field.toUpperCase()])).toMatchObject({ fields: [field] });
  });
});

it('columns are never guessed: of any titles, no field stands twice unless people are asked', () => {
  const any = fc.constantFrom(...spellings.map(([title]) => title), 'Name', 'Nom', 'ID', 'Kunde', 'Ort', 'Hobby');
  const distinct = { minLength: 1, maxLength: 8, selector: (title: string) => title.toLowerCase() };
  fc.assert(
    fc.property(fc.uniqueArray(any, distinct), (titles) => {
      const meant = fieldsOf(titles);
      const fields = Object.values(meant).filter((field) => field !== '' && field !== '?');
      expect(new Set(fields).size).toBe(fields.length);
      if (openTitles(meant).length > 0 || fields.length === 0) return;
      expect(readAs(titles).fields).toEqual(titles.map((title) => meant[title] || null));
    }),
  );
});

it.each([[['Telefon', 'Handy', 'E-Mail']], [['Stamps', 'Balance', 'Ort']]])(
  'people are asked which column of %j has the field that two have',
  ([first = '', second = '', other = '']) => {
    expect(openTitles(fieldsOf([first, second, other]))).toEqual([first, second]);
  },
);

it('people are asked about a title that has two meanings', () => {
  for (const title of ['Name', 'Nom', 'Full name', 'Nombre y apellidos', 'Kunde', 'ID', 'Nr.', 'Kundenkarte'])
    expect(fieldsOf([title, 'Vorteil'])).toEqual({ [title]: '?', Vorteil: '' });
});

it('reads Name by the column of the other name, where it can be nothing else', () => {
  expect(fieldsOf(['Name', 'Vorname'])).toEqual({ Name: 'lastName', Vorname: 'firstName' });
  expect(fieldsOf(['Prénom', 'Nom'])).toEqual({ Prénom: 'firstName', Nom: 'lastName' });
  expect(fieldsOf(['Name', 'Surname'])).toEqual({ Name: 'firstName', Surname: 'lastName' });
  expect(fieldsOf(['First name', 'Name'])).toEqual({ 'First name': 'firstName', Name: '?' });
  expect(fieldsOf(['First name', 'Name', 'Surname']).Name).toBe('');
  expect(fieldsOf(['Nr', 'Kundennummer']).Nr).toBe('');
});
