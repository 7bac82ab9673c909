// Campaigns.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { many, number } = wordsIn('de');

export const campaigns: Catalogue['campaigns'] = {
  lead: 'Eine Nachricht auf die Karten aller, die dazu passen.',
  new: 'Neue Kampagne',
  program: 'Kundenkarte',
  allPrograms: 'Alle Kundenkarten',
  anyProgram: 'Ihre Kundenkarte',
  tags: 'Mit allen diesen Schlagwörtern',
  tagsHint: (tags: string[]) =>
    `Mitglieder mit allen diesen Schlagwörtern, durch Kommas getrennt; leer: alle${tags.length > 0 ? `; in Gebrauch: ${tags.join(', ')}` : ''}`,
  message: 'Nachricht',
  left: (characters: number) => `Noch ${characters} Zeichen`,
  audience: ({ matched, reachable, complete }) =>
    `Geht an ${complete ? '' : 'mindestens '}${many(matched, 'aktives Mitglied', 'aktive Mitglieder')}, davon ${number(reachable)} mit der Karte auf dem Telefon.`,
  who: 'Wer sie bekommt',
  whoOf: (who) => `Wer sie bekommt: ${who}`,
  when: 'Senden am',
  whenHint: 'leer: sofort',
  later: (moment) => `Wird am ${moment} gesendet.`,
  planned: 'Die Kampagne ist geplant.',
  preview: 'Auf dem Sperrbildschirm',
  send: 'Senden',
  sendTitle: 'Diese Nachricht senden?',
  plan: 'Planen',
  planTitle: 'Diese Nachricht planen?',
  sent: 'Die Kampagne hat begonnen.',
  none: 'Noch keine Kampagne.',
  started: 'Wann',
  state: 'Zustand',
  notSent: 'Es wurde nichts gesendet.',
  finishing: 'Alle Mitglieder sind abgearbeitet. Die Kampagne wird abgeschlossen.',
  matched: 'Mitglieder',
  pushed: 'Gesendet',
  skipped: 'Nicht auf einem Telefon',
  failed: 'Noch nicht erreicht',
  today: 'Das ist die Zahl von heute.',
  automatic: 'Automatische Nachrichten',
  automaticLead:
    'Jedes Mitglied bekommt jede davon einmal: in jeder Runde bis zur Prämie, in jeder Abwesenheit, nach der Anmeldung.',
  text: 'Text',
  messagesOf: 'Nachrichten von',
  tells: ({ matched, reachable, complete }) =>
    `Heute ginge sie an ${complete ? '' : 'mindestens '}${many(matched, 'Mitglied', 'Mitglieder')}, davon ${number(reachable)} mit der Karte auf dem Telefon.`,
  on: 'Von selbst senden',
  hour: 'Uhrzeit',
  zone: (zone) => `Uhr von ${zone}`,
  next: 'Nächstes Mal:',
  save: 'Speichern',
  saved: 'Die automatische Nachricht ist gespeichert.',
  isAutomatic: 'Automatisch',
};
