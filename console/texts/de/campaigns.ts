// Campaigns.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { many } = wordsIn('de');

export const campaigns: Catalogue['campaigns'] = {
  lead: 'Eine Nachricht auf die Karten aller, die dazu passen.',
  new: 'Neue Kampagne',
  program: 'Kundenkarte',
  allPrograms: 'Alle Kundenkarten',
  anyProgram: 'Ihre Kundenkarte',
  tags: 'Wer sie bekommt',
  tagsHint: (tags: string[]) =>
    `Mitglieder mit allen diesen Schlagwörtern, durch Kommas getrennt; leer: alle${tags.length > 0 ? `; in Gebrauch: ${tags.join(', ')}` : ''}`,
  message: 'Nachricht',
  left: (characters: number) => `Noch ${characters} Zeichen`,
  audience: (members: number, isComplete: boolean) =>
    `Geht an ${isComplete ? '' : 'mindestens '}${many(members, 'aktives Mitglied', 'aktive Mitglieder')}.`,
  preview: 'Auf dem Sperrbildschirm',
  send: 'Senden',
  sendTitle: 'Diese Nachricht senden?',
  sent: 'Die Kampagne hat begonnen.',
  none: 'Noch keine Kampagne.',
  started: 'Begonnen',
  state: 'Zustand',
  finishing: 'Alle Mitglieder sind erledigt. Die Kampagne wird abgeschlossen.',
  matched: 'Mitglieder',
  pushed: 'Gesendet',
  skipped: 'Nicht auf einem Telefon',
  failed: 'Noch nicht erreicht',
};
