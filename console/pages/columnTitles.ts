// What the titles of a spreadsheet's columns mean, in the five languages of the product. Case, accents, hyphens,
// blanks, digits and small words do not count, and all words for "number" are the same word.

export const columnFields = ['firstName', 'lastName', 'email', 'phone', 'initialPoints', 'externalId'] as const;
export type ColumnField = (typeof columnFields)[number];

const listOf = (words: string): string[] => words.split(',').map((word) => word.trim());

const smallWords = new Set(
  listOf(`of, the, your, and, de, des, du, d, del, della, delle, di, da, do, la, le, les, l, el, los, il, lo, y, e, et,
    und, der, die, das, dem, ihr, ihre, dein, deine, votre, su, tu`),
);
/** Whose it is, or which of several: they count only where the title means something with them. */
const asides = new Set(
  listOf(`customer, customers, client, clients, cliente, clientes, clienti, kunde, kunden, member, members, mitglied,
    mitglieder, membre, socio, contact, kontakt, contacto, contatto, person, user, private, privat, prive, privado, privato,
    personal, personale, personnel, primary, principal, principale, main, work, home, current, actual, actuel, attuale,
    aktuell, aktuelle, aktueller, value, optional, required`),
);
const number = '#';
const numberWord = /^(?:numbers?|nummer|numero|num|nro|nr|no|n|id|code|codice|codigo|identifi(?:er|ant|cador|cativo))$/;
const numberWithin =
  /^(?:number|numero|code|codice|codigo|id)(?:of|de|di|du)?(?=.)|(?<=.)(?:number|nummer|nr|code|id)$/;

const titles: Record<ColumnField, string> = {
  firstName: `First name, Given name, Forename, Christian name, First, Vorname, Vornamen, Rufname, Prénom, Prénoms, Nombre,
    Nombres, Nombre de pila, Primer nombre, Nome, Nome di battesimo`,
  lastName: `Last name, Surname, Family name, Last, Nachname, Familienname, Zuname, Nom de famille, Patronyme, Apellido,
    Apellidos, Primer apellido, Cognome`,
  email: `Email, Mail, Email address, Mail address, Mailadresse, E-Mail-Adresse, E-Mail-Anschrift, Courriel,
    Adresse courriel, Adresse e-mail, Adresse mail, Adresse électronique, Mél, Correo, Correo electrónico,
    Dirección de correo, Dirección de correo electrónico, Dirección de e-mail, Indirizzo e-mail, Indirizzo mail,
    Posta elettronica, Indirizzo di posta elettronica`,
  phone: `Phone, Telephone, Tel, Mobile, Mobile phone, Mobile telephone, Cell, Cell phone, Contact number, Fon, Telefon, Mobil,
    Mobiltelefon, Mobilfunk, Handy, Rufnummer, Kontaktnummer, Téléphone, Téléphone portable, Téléphone mobile,
    Téléphone fixe, Portable, Teléfono, Teléfono móvil, Teléfono celular, Teléfono fijo, Tfno, Tlf, Móvil, Celular,
    Telefono cellulare, Telefono fisso, Telefonino, Cellulare, Numero telefonico, Recapito telefonico`,
  initialPoints: `Points, Point, Points balance, Total points, Points total, Loyalty points, Reward points, Bonus points,
    Balance, Stamps, Stamp, Stamp count, Stamps collected, Number of points, Number of stamps, Punkte, Punktestand,
    Punkteguthaben, Punktesaldo, Punktekonto, Treuepunkte, Bonuspunkte, Sammelpunkte, Anzahl Punkte, Stempel, Stempelstand,
    Anzahl Stempel, Stempelanzahl, Stempelzahl, Guthaben, Saldo, Nombre de points, Nombre de tampons, Points fidélité,
    Solde, Solde de points, Solde points fidélité, Points cumulés, Tampons, Puntos, Saldo de puntos, Total de puntos,
    Número de puntos, Puntos acumulados, Puntos de fidelidad, Sellos, Número de sellos, Punti, Saldo punti, Totale punti,
    Punti accumulati, Punti fedeltà, Numero di punti, Timbri, Numero di timbri, Bollini, Numero di bollini`,
  externalId: `External ID, Externe ID, ID externe, ID externo, ID esterno, Customer number, Client number, Member number,
    Membership number, Account number, Card number, Customer card number, Loyalty number, Loyalty card number,
    Membership card number, Kundennummer, Kunde Nr, Kd-Nr, Mitgliedsnummer, Mitgliedernummer, Mitglied Nr, Stammkundennummer,
    Kartennummer, Karte Nr, Kundenkartennummer, Kundenkarte Nr, Treuekartennummer, Treuekarte Nr, Treuenummer,
    Bonuskartennummer, Bonuskarte Nr, Mitgliedskartennummer, Numéro de client, Numéro de membre, Numéro d'adhérent,
    Numéro de carte, Numéro de carte client, Numéro de carte de fidélité, Numéro de fidélité, Número de cliente,
    Número de socio, Número de miembro, Número de tarjeta, Número de tarjeta de cliente, Número de tarjeta de fidelidad,
    Número de tarjeta de fidelización, Numero carta, Numero carta fedeltà, Numero tessera, Numero tessera fedeltà,
    Numero socio`,
};
/** What may be the whole name of a person, or a part of it. */
const wholeNames = `Name, Full name, Customer name, Kundenname, Nom, Nom complet, Nom et prénom, Prénom et nom, Nombre completo,
  Nombre y apellidos, Apellidos y nombre, Nome completo, Nome e cognome, Cognome e nome, Vor- und Nachname,
  Vorname Nachname, Nachname Vorname, Vollständiger Name, First and last name`;
/** May be a number that people are known by, or something else. */
const doubtful = `ID, Barcode, Customer, Client, Cliente, Kunde, Mitglied, Member`;

function wordsOf(title: string): string[] {
  const plain = title
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');
  const words = plain.split(/[^a-z]+/).filter((word) => word !== '' && !smallWords.has(word));
  return words.flatMap((word) =>
    numberWord.test(word) ? [number] : [word.replace(numberWithin, ''), ...(numberWithin.test(word) ? [number] : [])],
  );
}

/** The words without what lies between them, and the word for "number" once, at the end. */
const keyOf = (words: readonly string[]): string =>
  words.filter((word) => word !== number).join('') + (words.includes(number) ? number : '');

const keysOf = (list: string): string[] => listOf(list).map((title) => keyOf(wordsOf(title)));

const fields = new Map(
  columnFields.flatMap((field) => keysOf(`${field}, ${titles[field]}`).map((key) => [key, field] as const)),
);
const names = new Set(keysOf(wholeNames));
const eitherNames = new Set(keysOf('Name, Nom, Kundenname'));
const doubts = new Set(keysOf(doubtful));

type Meaning = ColumnField | 'eitherName' | 'wholeName' | 'doubtful' | undefined;

function keyMeaning(key: string): Meaning {
  if (doubts.has(key)) return 'doubtful';
  const field = fields.get(key) ?? fields.get(key.replace(number, ''));
  if (field) return field;
  if (eitherNames.has(key)) return 'eitherName';
  if (names.has(key)) return 'wholeName';
  return fields.has(key + number) ? 'doubtful' : undefined;
}

function meaningOf(title: string): Meaning {
  const words = wordsOf(title);
  return keyMeaning(keyOf(words)) ?? keyMeaning(keyOf(words.filter((word) => !asides.has(word))));
}

/** A column that its title does not decide: people choose its field, or leave it out. */
export const undecided = '?';

/** The field of each column; '' for one that is left out. */
export function fieldsOfColumns(columns: readonly string[]): (ColumnField | '' | typeof undecided)[] {
  const meanings = columns.map(meaningOf);
  const has = (field: Meaning) => meanings.includes(field);
  const missingName = has('firstName') ? 'lastName' : 'firstName';
  const decided = meanings.map((meaning) => {
    if (meaning === 'doubtful') return has('externalId') ? '' : undecided;
    if (meaning === 'wholeName' || meaning === 'eitherName') {
      if (has('firstName') && has('lastName')) return '';
      return meaning === 'eitherName' && (has('firstName') || has('lastName')) ? missingName : undecided;
    }
    return meaning ?? '';
  });
  return decided.map((field) =>
    field !== '' && decided.filter((one) => one === field).length > 1 ? undecided : field,
  );
}
