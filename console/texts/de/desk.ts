// The live desk.

import type { Hop } from '../../hops.js';
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { number } = wordsIn('de');

export const desk: Catalogue['desk'] = {
  absent: 'Die Live-Vorführung gehört zur Demo von `npm start`. Dieser Dienst läuft ohne sie.',
  ownersOnly: 'Die Live-Vorführung gehört dem Inhaber: Sie zeigt jede E-Mail und beendet Teile des Dienstes.',
  lead: 'Eine Kasse und zwei virtuelle Telefone. Legen Sie die Karte eines Mitglieds auf die Telefone, tippen Sie an der Kasse und sehen Sie zu.',
  switchOn: 'Telefone einschalten',
  switchOnHint:
    'Die Telefone schalten sich ein, wenn diese Seite zum ersten Mal geöffnet wird. Das dauert ein paar Sekunden.',
  switchingOn: 'Wird eingeschaltet…',
  technically: 'Was dann geschieht',
  standIns:
    'Auf diesem Rechner starten Nachbildungen von Apples Push-Dienst und von Google Wallet. Der Worker und die API nehmen Testzertifikate für sie an, solange sie laufen.',
  phones: 'Telefone',
  find: 'Mitglied suchen',
  findHint: 'Name, E-Mail, Telefon oder Mitgliedsnummer; leer: die neuesten Mitglieder',
  cardOf: { iphone: 'iPhone: Karte von', android: 'Android: Karte von' },
  choose: 'Mitglied wählen',
  cardOption: (name: string, program: string) => `${name}, ${program}`,
  openMember: (name: string) => `${name} unter „Mitglieder“ öffnen`,
  nobody: (words: string) => `Kein Mitglied passt zu ${words}.`,
  noSaveUrl: 'Google hat diese Karte noch nicht erstellt. Versuchen Sie es gleich noch einmal.',
  noCard: 'Noch keine Karte.',
  adding: 'Die Karte ist unterwegs…',
  flightOn: 'Flugmodus',
  flightOff: 'Flugmodus beenden',
  give: 'An der Kasse',
  message: 'Nachricht für den Sperrbildschirm',
  firstMessage: 'Danke für Ihren Besuch',
  giveOne: { stamp: 'Stempel geben', point: 'Punkt geben' },
  giveEach: 'Stempel und Punkt geben',
  redeem: 'Einlösen',
  undo: 'Rückgängig machen',
  firstCard: 'Legen Sie zuerst eine Karte auf ein Telefon: Wählen Sie, wessen.',
  firstPhones: 'Die Telefone sind noch nicht eingeschaltet.',
  samples: 'Noch niemand angemeldet?',
  /** The last name of members who are no real people. */
  sample: '(Beispiel)',
  join: 'Ada und Grace anmelden',
  joining: 'Zwei Personen melden sich an…',
  breakdown: 'Ausfall nachstellen (Demo)',
  breakdownHint:
    'Kein Stempel geht verloren, wenn ein Teil des Dienstes ausfällt. Beenden Sie einen, geben Sie einen Stempel und sehen Sie ihn ankommen.',
  killWorker: 'Benachrichtigung anhalten',
  killTemporal: 'Auftragsliste anhalten',
  breakdownDetail:
    'Ein Teil benachrichtigt Telefone und verbundene Software; ein anderer merkt sich, was noch zu tun ist. Jeder endet mitten in der Arbeit und startet von selbst wieder.',
  log: 'Was geschehen ist',
  logHint: 'Die Zeiten zählen ab dem Augenblick, in dem die Änderung gespeichert wurde, egal wo.',
  noHops: 'Noch ist nichts geschehen.',
  underWay: 'Noch hat kein Telefon davon erfahren.',
  after: (ms: number) => `${number(ms)} ms`,
  hop: ({ what, who, name = '', detail = '', lockScreen, isSilent = false }: Hop): string => {
    const phone = who === 'android' ? 'Android' : 'iPhone';
    const sentences: Record<Hop['what'], string> = {
      changed: `${name}: ${detail}`,
      touched: `${name}: Die Karte hat sich geändert`,
      added: `${name}: Die Karte wird auf das ${phone === 'Android' ? 'Android-Telefon' : phone} gelegt`,
      flightOn: 'Flugmodus ein',
      flightOff: 'Flugmodus aus',
      killed: detail === 'worker' ? 'Die Benachrichtigung wurde angehalten' : 'Die Auftragsliste wurde angehalten',
      starting: 'Die Telefone werden eingeschaltet',
      ready: 'Die Telefone sind eingeschaltet',
      mail: `E-Mail: ${detail}`,
      push: 'Apple meldet dem iPhone, dass sich eine Karte geändert hat',
      list: 'iPhone fragt, welche',
      fetch: 'iPhone ruft die Karte ab',
      add: 'iPhone bekommt die Karte',
      register: 'iPhone möchte Änderungen erfahren',
      saved: 'Android hat die Karte gespeichert',
      face: `${phone} zeigt ${detail}${lockScreen === undefined ? '' : `; Sperrbildschirm: ${lockScreen}`}${isSilent ? '; nichts auf dem Sperrbildschirm: Google zeigt dort drei Nachrichten einer Karte am Tag' : ''}`,
    };
    return sentences[what];
  },
  gone: 'Die Vorführung antwortet nicht; es wird wieder versucht.',
};
