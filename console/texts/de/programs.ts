// Programs and their posters.
import type { Catalogue } from '../en/index.js';

export const programs: Catalogue['programs'] = {
  lead: 'Ihre Kundenkarten: wie sie aussehen, was die Gäste sammeln und was sie dafür bekommen.',
  create: 'Neue Kundenkarte',
  name: 'Name',
  style: 'Art',
  styles: {
    stamps: 'Stempel',
    points: 'Punkte',
    tiered: 'Punkte mit Stufen',
  },
  /** What a new card begins with. */
  beginnings: { points: 'PUNKTE', stamps: 'STEMPEL', bronze: 'Bronze', silver: 'Silber', gold: 'Gold' },
  program: 'Kundenkarte',
  unit: 'Was gesammelt wird',
  goal: 'Ziel',
  version: 'Version',
  state: 'Zustand',
  open: 'Aktiv',
  archived: 'Archiviert',
  none: 'Noch keine Kundenkarte.',
  inUtc:
    'Die Zeitzone dieses Geräts ist hier nicht bekannt, deshalb zählen Tage und Uhrzeiten nach UTC. Wählen Sie Ihre unter „Verfall“.',
};

export const counterPoster: Catalogue['counterPoster'] = {
  title: 'Plakat für die Theke',
  hint: 'Der QR-Code der Anmeldeseite, in den Farben, mit dem Logo und in der Sprache der veröffentlichten Karte.',
  format: 'Größe',
  formats: {
    a4: 'A4',
    a5: 'A5',
    tent: 'Tischaufsteller (A4 zum Falten)',
  },
  pdf: 'PDF herunterladen',
  png: 'Bild herunterladen (PNG)',
  saved: 'Das Plakat ist in Ihren Downloads.',
  neverPublished: 'Veröffentlichen Sie zuerst die Karte: Bis dahin gibt es ihre Seite nicht.',
  archived: 'Die Karte ist archiviert, deshalb kann sich niemand anmelden.',
  closed: 'Die Seite ist geschlossen, der Code würde ins Leere führen. Öffnen Sie sie und veröffentlichen Sie.',
  lettersMissing: (letters: string) =>
    `Den Schriften des Plakats fehlen diese Buchstaben aus den Texten der Karte: ${letters}`,
};
