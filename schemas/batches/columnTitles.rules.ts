// What the titles of a spreadsheet's columns mean, in the five languages of the product. Case, accents, hyphens,
// blanks, digits and small words do not count, and all words for "number" are the same word. The console maps columns by
// it; the service knows the names of the fields and a mapping. The console imports this file, which must import nothing.

export const importFields = ['firstName', 'lastName', 'email', 'phone', 'initialPoints', 'externalId'] as const;
export type ImportField = (typeof importFields)[number];

/**
 * The first and the last column of errors.csv and known.csv. A file that has both there is taken for one of these: they
 * are ignored, and the guard is taken off its cells. In other files a column of this name is ignored, and no cell is
 * changed.
 */
export const addedColumns = { first: 'row', failed: 'reason', known: 'pointsNotGiven' } as const;

export const isAddedTitle = (cell = '', names: readonly string[] = Object.values(addedColumns)): boolean =>
  names.map((name) => name.toLowerCase()).includes(cell.trim().toLowerCase());

/** Whether a first line is that of an errors.csv or known.csv. */
export const isRowsFile = (cells: readonly string[]): boolean =>
  isAddedTitle(cells[0], [addedColumns.first]) && isAddedTitle(cells.at(-1), [addedColumns.failed, addedColumns.known]);

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

const titles: Record<ImportField, string> = {
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
/**
 * What members have no field for. Without notes and consents, which are not left out unasked: who sends them says so by
 * a mapping.
 */
const unusedTitles = `Birthday, Birthdate, Birth date, Date of birth, DOB, Geburtstag, Geburtsdatum, Geb Datum, Geboren am,
  Date de naissance, Anniversaire, Fecha de nacimiento, Nacimiento, Cumpleaños, Data di nascita, Compleanno, Age, Alter, Âge,
  Edad, Età, Address, Postal address, Street, Street address, Address line, House number, City, Town, Zip, Zip code,
  Postal code, Postcode, State, Region, Province, County, Country, Adresse, Anschrift, Postanschrift, Straße, Strasse und
  Hausnummer, Hausnummer, Ort, Wohnort, Stadt, PLZ, Postleitzahl, PLZ Ort, Bundesland, Land, Adresse postale, Rue, Ville,
  Code postal, CP, Région, Département, Pays, Dirección, Dirección postal, Calle, Ciudad, Población, Localidad,
  Código postal, Provincia, País, Indirizzo, Indirizzo postale, Via, Città, CAP, Codice postale, Comune, Regione, Paese,
  Nazione, Company, Company name, Organization, Organisation, Firma, Firmenname, Unternehmen, Entreprise, Société,
  Raison sociale, Empresa, Razón social, Azienda, Ditta, Società, Ragione sociale, Gender, Sex, Geschlecht, Sexe, Genre, Sexo,
  Género, Sesso, Genere, Salutation, Title, Anrede, Titel, Civilité, Tratamiento, Título, Titolo, Fax, Telefax, Faxnummer,
  Télécopie, Language, Sprache, Langue, Idioma, Lingua, Website, Webseite, Homepage, Site web, Sitio web, Sito web,
  Member since, Customer since, Registration date, Join date, Joined, Created, Created at, Mitglied seit, Kunde seit,
  Beitrittsdatum, Eintrittsdatum, Anmeldedatum, Registriert am, Angelegt am, Membre depuis, Client depuis,
  Date d'inscription, Date d'adhésion, Cliente desde, Socio desde, Fecha de alta, Fecha de registro, Cliente dal, Socio dal,
  Data di iscrizione, Data di registrazione, Last visit, Last purchase, Letzter Besuch, Letzter Einkauf, Dernière visite,
  Dernier achat, Última visita, Última compra, Ultima visita, Ultimo acquisto`;
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
  importFields.flatMap((field) => keysOf(`${field}, ${titles[field]}`).map((key) => [key, field] as const)),
);
const unused = new Set(keysOf(unusedTitles));
const names = new Set(keysOf(wholeNames));
const eitherNames = new Set(keysOf('Name, Nom, Kundenname'));
const doubts = new Set(keysOf(doubtful));
/** With one of these in the file, Name is the last name; with an English one it may be the whole name. */
const firstOfLast = new Set(keysOf('Vorname, Vornamen, Rufname, Prénom, Prénoms'));

type Meaning = ImportField | 'unused' | 'eitherName' | 'wholeName' | 'doubtful' | undefined;

function keyMeaning(key: string): Meaning {
  if (doubts.has(key)) return 'doubtful';
  const plain = key.replace(number, '');
  const field = fields.get(key) ?? fields.get(plain);
  if (field) return field;
  if (eitherNames.has(key)) return 'eitherName';
  if (names.has(key)) return 'wholeName';
  if (unused.has(key) || unused.has(plain)) return 'unused';
  return fields.has(key + number) ? 'doubtful' : undefined;
}

function meaningOf(title: string): Meaning {
  const words = wordsOf(title);
  return keyMeaning(keyOf(words)) ?? keyMeaning(keyOf(words.filter((word) => !asides.has(word))));
}

/**
 * What a column is: its field; `unused`, of which members have no field; `twice`, which another column is too;
 * `undecided`, a title with two meanings; or `unknown`.
 */
export type ColumnDecision =
  | { is: 'field' | 'twice'; field: ImportField }
  | { is: 'unused' | 'undecided' | 'unknown'; field?: never };

export function decideColumns(titlesGiven: readonly string[]): ColumnDecision[] {
  const meanings = titlesGiven.map(meaningOf);
  const has = (field: ImportField) => meanings.includes(field);
  const isFirstOfLast = (index: number) =>
    meanings[index] === 'firstName' && firstOfLast.has(keyOf(wordsOf(titlesGiven[index] ?? '')));
  const decided = meanings.map((meaning): ColumnDecision => {
    switch (meaning) {
      case 'unused':
        return { is: 'unused' };
      case 'doubtful':
        return { is: has('externalId') ? 'unused' : 'undecided' };
      case 'wholeName':
      case 'eitherName':
        if (has('firstName') && has('lastName')) return { is: 'unused' };
        if (meaning === 'wholeName') return { is: 'undecided' };
        if (has('lastName')) return { is: 'field', field: 'firstName' };
        return titlesGiven.some((_, at) => isFirstOfLast(at))
          ? { is: 'field', field: 'lastName' }
          : { is: 'undecided' };
      default:
        return meaning ? { is: 'field', field: meaning } : { is: 'unknown' };
    }
  });
  return decided.map((decision) => {
    const isTwice = decision.is === 'field' && decided.filter(({ field }) => field === decision.field).length > 1;
    return isTwice ? { is: 'twice', field: decision.field } : decision;
  });
}
