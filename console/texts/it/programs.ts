// Programs and their posters.
import type { Catalogue } from '../en/index.js';

export const programs: Catalogue['programs'] = {
  lead: 'Le Sue carte fedeltà: come appaiono, che cosa si raccoglie e che cosa si riceve.',
  create: 'Nuova carta fedeltà',
  name: 'Nome',
  style: 'Tipo',
  styles: {
    stamps: 'Timbri',
    points: 'Punti',
    tiered: 'Punti con livelli',
  },
  /** What a new card begins with. */
  beginnings: { points: 'PUNTI', stamps: 'TIMBRI', bronze: 'Bronzo', silver: 'Argento', gold: 'Oro' },
  program: 'Carta fedeltà',
  unit: 'Che cosa si raccoglie',
  goal: 'Obiettivo',
  version: 'Versione',
  state: 'Stato',
  open: 'Attiva',
  archived: 'Archiviata',
  none: 'Ancora nessuna carta fedeltà.',
  inUtc:
    'Il fuso orario di questo dispositivo non è noto qui, quindi giorni e ore si contano in UTC. Scelga il Suo in «Scadenza».',
};

export const counterPoster: Catalogue['counterPoster'] = {
  title: 'Locandina per il banco',
  hint: 'Il codice QR della pagina d’iscrizione, nei colori, con il logo e nella lingua della carta pubblicata.',
  format: 'Formato',
  formats: {
    a4: 'A4',
    a5: 'A5',
    tent: 'Cavaliere da tavolo (A4 da piegare)',
  },
  pdf: 'Scarica PDF',
  png: 'Scarica immagine (PNG)',
  saved: 'La locandina è tra i Suoi download.',
  neverPublished: 'Pubblichi prima la carta: fino ad allora la sua pagina non esiste.',
  archived: 'La carta è archiviata, perciò nessuno può iscriversi.',
  closed: 'La pagina è chiusa e il codice non porterebbe da nessuna parte. La apra e pubblichi.',
  lettersMissing: (letters: string) =>
    `Ai caratteri della locandina mancano queste lettere dei testi della carta: ${letters}`,
};
