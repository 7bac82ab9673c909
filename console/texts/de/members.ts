// The list of members, mails with their cards, and all that is kept about one.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { either, many } = wordsIn('de');

export const members: Catalogue['members'] = {
  search: 'Suchen',
  searchHint: 'Name, E-Mail, Telefon oder Mitgliedsnummer',
  program: 'Kundenkarte',
  allPrograms: 'Alle Kundenkarten',
  cardNumber: 'Alte Kundennummer',
  cardNumberHint: 'genau wie auf der Karte',
  audience: 'Wer',
  audiences: {
    '': 'Alle',
    today: 'Heute da',
    returning: 'In den letzten 7 Tagen wiedergekommen',
    rewarded: 'Prämie in den letzten 7 Tagen',
    joined: 'In den letzten 7 Tagen angemeldet',
    nearlyFull: 'Karte fast voll',
    away: 'Seit 30 Tagen nicht da',
  },
  lastVisit: 'Letzter Besuch',
  found: (total: number) => many(total, 'Mitglied', 'Mitglieder'),
  download: 'Liste herunterladen (CSV)',
  none: 'Keine Treffer.',
  person: 'Person',
  email: 'E-Mail',
  code: 'Mitgliedsnummer',
  balance: 'Stand',
  status: 'Status',
  since: 'Seit',
  statuses: { active: 'Aktiv', voided: 'Gesperrt', expired: 'Abgelaufen' },
  enroll: 'Mitglied hinzufügen',
  into: 'Kundenkarte',
  firstName: 'Vorname',
  lastName: 'Nachname',
  enrolled: 'Hinzugefügt.',
  known: 'Diese Person ist schon Mitglied.',
};

export const cardMails: Catalogue['cardMails'] = {
  mail: 'Karten per E-Mail senden',
  title: 'Diesen Personen ihre Karten per E-Mail senden?',
  send: (people: number) => `An ${many(people, 'Person', 'Personen')} senden`,
  people: (people: number, minutes: number) =>
    people === 0
      ? 'In diesem Import hat niemand eine E-Mail-Adresse.'
      : `${many(people, 'Person erhält', 'Personen erhalten')} eine E-Mail mit dem Link zur Karte. Das dauert etwa ${many(minutes, 'Minute', 'Minuten')}.`,
  withoutEmail: (people: number) =>
    `${many(people, 'Person hat', 'Personen haben')} keine E-Mail-Adresse und ${either(people, 'erhält', 'erhalten')} nichts.`,
  once: 'Jede Person erhält sie einmal, auch wenn Sie es wiederholen.',
  started: 'Die E-Mails sind unterwegs.',
  isStarted: 'Die Karten wurden per E-Mail gesendet.',
};

export const memberData: Catalogue['memberData'] = {
  title: 'Alles Gespeicherte',
  titleOf: (name: string) => `Alles, was über ${name} gespeichert ist`,
  json: 'Als Datei (JSON)',
  print: 'Drucken',
  yes: 'Ja',
  no: 'Nein',
  leftOut: 'Ihre Rolle darf das Protokoll nicht lesen, deshalb fehlt es hier.',
  fields: {
    lifetimePoints: 'Insgesamt gesammelt',
    message: 'Letzte Nachricht auf der Karte',
    source: 'Aufgenommen durch',
    sources: {
      api: 'Ein verbundenes System',
      console: 'Die Verwaltung',
      import: 'Einen Import',
      public: 'Die Anmeldeseite',
    },
    createdAt: 'Aufgenommen am',
    visitDays: 'Tage mit Besuch',
    lastRewardAt: 'Letzte Prämie',
    word: 'Wort',
    before: 'Stand vorher',
    after: 'Stand nachher',
    receipt: 'Beleg',
    soldAt: 'Zeit an der Kasse',
    report: 'Meldung des Telefons',
    line: 'Zeile der Datei',
    columns: 'Spalten der Datei',
    cells: 'Zellen der Zeile',
    mails: {
      'card-link': 'Link zur Karte',
      confirmation: 'Bestätigung der E-Mail-Adresse',
      'sign-in': 'Anmeldelink',
      invitation: 'Einladung',
    },
    mailStates: {
      queued: 'Wartet',
      sent: 'Gesendet',
      failed: 'Nicht gesendet',
    },
    sentAt: 'Gesendet am',
  },
  sections: {
    members: 'Die Person und ihre Karte',
    emails: 'E-Mail',
    externalIds: 'Alte Kundennummer',
    memberSearchWords: 'Wörter, über die man die Person findet',
    timeline: 'Was geschehen ist',
    ledger: 'Punkte und Prämien',
    events: 'An Ihre Systeme gemeldet',
    devices: 'Telefone mit der Karte',
    removals: 'Von Telefonen entfernt',
    deviceLogs: 'Von Telefonen gemeldete Probleme',
    requests: 'Anfragen Ihrer Systeme',
    deliveries: 'Zustellungen an Ihre Systeme',
    audit: 'Wer was geändert hat',
    importChunks: 'Zeilen importierter Dateien',
    batchTargets: 'Kampagnen und Importe',
    mails: 'E-Mails',
    idempotencyKeys: 'Für wiederholte Anfragen gespeicherte Antworten',
  },
};
