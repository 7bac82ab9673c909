// The overview.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { growth, many, number } = wordsIn('de');

export const overview: Catalogue['overview'] = {
  days: 'Zeitraum',
  ranges: {
    '30': 'Letzte 30 Tage',
    '90': 'Letzte 90 Tage',
    '399': 'Letzte 399 Tage',
  },
  numbers: 'Auf einen Blick',
  today: 'Besuche heute',
  dayBefore: (visits: number) => `${number(visits)} vor einer Woche`,
  returning: 'Wiederkehrende Gäste',
  visits: (visits: number) => `${many(visits, 'Besuch', 'Besuche')} in 7 Tagen`,
  joined: 'Neue Mitglieder in 7 Tagen',
  rewarded: 'Prämien in 7 Tagen',
  cost: (costs: string) => (costs ? `für ${costs}` : 'nichts ausgegeben'),
  nearlyFull: 'Fast volle Karten',
  nearlyFullHint: 'höchstens ein Fünftel fehlt',
  away: 'Seit 30 Tagen nicht da',
  awayHint: 'waren seit 30 Tagen nicht da',
  change: (percent: number) => `${growth(percent)} gegenüber den 7 Tagen davor`,
  same: 'wie in den 7 Tagen davor',
  noneBefore: 'keine in den 7 Tagen davor',
  hint: 'Ein Gast zählt einmal am Tag. Anfangsstände eines Imports sind keine Besuche; Rückgängig Gemachtes zählt nicht mit.',
  visitsByDay: 'Besuche',
  newMembers: 'Neue Mitglieder',
  rewards: 'Prämien',
  onPhones: 'Auf Telefone gelegt',
  given: 'Gegeben',
  forRewards: 'Für Prämien',
  expired: 'Verfallen',
  amount: (amount: number, isStamps: boolean) =>
    isStamps ? many(amount, 'Stempel', 'Stempel') : many(amount, 'Punkt', 'Punkte'),
  byProgram: 'Nach Kundenkarte',
  noProgram: 'Keine Kundenkarte',
  steps: 'Drei Schritte bis zum ersten Stempel',
  design: 'Gestalten Sie Ihre Kundenkarte',
  designHint: 'Name, Farben und was die Gäste sammeln.',
  publish: 'Veröffentlichen Sie sie und drucken Sie das Plakat',
  publishHint: 'Mit dem Code auf dem Plakat melden sich Gäste an.',
  firstStamp: 'Geben Sie den ersten Stempel',
  firstStampHint: 'An der Kasse oder auf der Seite eines Mitglieds.',
  done: 'Erledigt',
  notDone: 'Noch nicht erledigt',
};
