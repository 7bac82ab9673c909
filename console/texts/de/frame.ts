// What stands around every page, and parts that many pages use.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { number } = wordsIn('de');

export const nav: Catalogue['nav'] = {
  overview: 'Übersicht',
  programs: 'Kundenkarten',
  members: 'Mitglieder',
  imports: 'Importe',
  campaigns: 'Kampagnen',
  webhooks: 'Webhooks',
  readers: 'Kassengeräte',
  apiKeys: 'API-Schlüssel',
  people: 'Personen',
  audit: 'Protokoll',
  liveDesk: 'Live-Vorführung',
};

/** The fields of the API as the screens name them. */
export const fieldNames: Catalogue['fieldNames'] = {
  firstName: 'Vorname',
  lastName: 'Nachname',
  email: 'E-Mail',
  phone: 'Telefon',
  initialPoints: 'Anfangsstand',
  externalId: 'Alte Kundennummer',
  birthday: 'Geburtstag',
  delta: 'Änderung',
  changeMessage: 'Nachricht für den Sperrbildschirm',
  roleIds: 'Rolle',
  slug: 'Webadresse',
  programId: 'Kundenkarte',
  name: 'Name',
  tags: 'Schlagwörter',
  status: 'Status',
};

export const menu: Catalogue['menu'] = {
  everyDay: 'Jeden Tag',
  cardAndTeam: 'Karte und Team',
  connections: 'Verbindungen',
};

export const frame: Catalogue['frame'] = {
  product: 'Kundenkarten-Konsole',
  navigation: 'Seiten',
  account: 'Konto',
  language: 'Sprache',
  menu: 'Menü',
  skip: 'Zum Inhalt springen',
  loading: 'Wird geladen…',
  justNow: 'gerade eben',
  wrong: (field: string, mistake: string) => `${field}: ${mistake}`,
  wrongElsewhere: (mistakes: string) => `Etwas stimmt noch nicht: ${mistakes}.`,
  working: 'Läuft…',
  save: 'Speichern',
  create: 'Erstellen',
  cancel: 'Abbrechen',
  close: 'Schließen',
  copy: 'Kopieren',
  stored: 'Ich habe es gespeichert',
  dismiss: 'Ausblenden',
  actions: 'Aktionen',
  none: '–',
  previous: 'Vorherige Seite',
  next: 'Nächste Seite',
  page: (page: number, pages: number, total: number) => `Seite ${page} von ${pages}, insgesamt ${number(total)}`,
  pagesOf: (table: string) => `Seiten von ${table}`,
  filters: 'Filter',
  notFound: 'Diese Seite gibt es nicht',
  notAllowed: (permission: string) =>
    `Ihre Rolle erlaubt das nicht (${permission}). Ein Inhaber kann Ihnen unter „Personen“ eine andere Rolle geben.`,
  notAnswered: 'Der Dienst antwortet nicht. Ihre Eingaben sind noch da.',
  pressAgain: 'Der Dienst antwortet nicht. Drücken Sie noch einmal: Es zählt nur einmal.',
  away: 'Der Dienst antwortet nicht. Alle zwei Sekunden wird es erneut versucht; Ihre Eingaben bleiben hier.',
  outdated: 'Die Konsole wurde aktualisiert. Laden Sie die Seite neu: Ihre Eingaben bleiben erhalten.',
  reload: 'Neu laden',
  leaveTitle: 'Ohne Speichern verlassen?',
  leaveHint: 'Ihre Änderungen sind noch nicht gespeichert. Dieser Tab behält sie, bis Sie zurückkommen.',
  leave: 'Seite verlassen',
  showAsCurl: 'Als curl anzeigen',
  calls: 'Aufrufe dieses Tabs',
  callsHint:
    'Alles hier ist ein Aufruf der öffentlichen API. SESSION ist das Token Ihrer Sitzung; die meisten Aufrufe nehmen auch einen API-Schlüssel an.',
  call: (method: string, path: string) => `${method} ${path}`,
  callTook: (status: number, ms: number) => (status === 0 ? 'keine Antwort' : `${status}, ${ms} ms`),
};

export const till: Catalogue['till'] = {
  title: 'Kasse',
  open: 'Kasse öffnen',
  only: 'Stempel und Punkte geben, Prämien einlösen und rückgängig machen: Das alles geht an der Kasse.',
};

export const session: Catalogue['session'] = {
  signIn: 'Anmelden',
  signOut: 'Abmelden',
  signedIn: 'Ich habe mich angemeldet',
  foreign: 'Diese Sitzung gehört zu einer anderen Konsole und endet dort.',
  ended: 'Ihre Sitzung ist beendet',
  endedHint: 'Melden Sie sich in einem anderen Tab wieder an und kommen Sie zurück. Ihre Eingaben bleiben erhalten.',
};

export const phases: Catalogue['phases'] = {
  scheduled: 'Geplant',
  storing: 'Wird hochgeladen',
  queued: 'Wartet',
  creating: 'Mitglieder werden angelegt',
  publishing: 'Karten werden erstellt',
  running: 'Läuft',
  completed: 'Abgeschlossen',
  failed: 'Fehlgeschlagen',
  cancelled: 'Abgebrochen',
};

export const images: Catalogue['images'] = {
  drop: (label: string) => `${label}: Bild hierher ziehen`,
  choose: (label: string) => `${label}: Datei auswählen`,
  chooseShort: 'Datei auswählen',
  remove: (label: string) => `${label}: entfernen`,
  removeShort: 'Entfernen',
  unreadable: 'Diese Datei ist kein lesbares Bild.',
  notSquare: (width: number, height: number) =>
    `Das Bild ist ${width} x ${height}, muss hier aber quadratisch sein. Schneiden Sie es zuerst zu.`,
};

export const phones: Catalogue['phones'] = {
  iphone: 'iPhone',
  android: 'Android',
  front: 'Vorderseite',
  back: 'Rückseite',
  lock: 'Sperrbildschirm',
  older: 'Vor iOS 27',
  actions: {
    membershipBenefits: 'Vorteile der Mitgliedschaft ansehen',
    order: 'Lieferung und Abholung bestellen',
    call: 'Anrufen',
  },
  views: (phone: string) => `Ansichten von ${phone}`,
  code: (value: string) => `QR-Code ${value}`,
  nothing: 'Erscheint, sobald der Entwurf keine Fehler hat.',
  noMessage: 'Keine Nachricht',
  publicPage: 'Anmeldeseite',
};

export const plots: Catalogue['plots'] = {
  of: (title: string, series: string[]) =>
    `${title} nach Tag: ${series.join(', ')}. Die Zahlen stehen in der Tabelle darunter.`,
  table: (title: string) => `${title} als Tabelle`,
  gone: 'Das Diagramm konnte nicht geladen werden. Die Zahlen stehen in der Tabelle; laden Sie die Seite neu, um es zu sehen.',
  day: 'Tag',
  none: 'Noch nichts.',
};
