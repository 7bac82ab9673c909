// Campaigns.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { either, many, number } = wordsIn('it');

export const campaigns: Catalogue['campaigns'] = {
  lead: 'Un messaggio sulle carte di tutte le persone scelte.',
  new: 'Nuova campagna',
  program: 'Carta fedeltà',
  allPrograms: 'Tutte le carte fedeltà',
  anyProgram: 'La Sua carta fedeltà',
  tags: 'Con tutte queste etichette',
  tagsHint: (tags: string[]) =>
    `soci con tutte queste etichette, separate da virgole; vuoto: tutti${tags.length > 0 ? `; in uso: ${tags.join(', ')}` : ''}`,
  message: 'Messaggio',
  left: (characters: number) =>
    `${either(characters, 'Resta', 'Restano')} ${many(characters, 'carattere', 'caratteri')}`,
  audience: ({ matched, reachable, complete }) =>
    `Arriva ${complete ? '' : 'almeno '}a ${many(matched, 'socio attivo', 'soci attivi')}, ${number(reachable)} con la carta su un telefono.`,
  who: 'Chi lo riceve',
  when: 'Invia il',
  whenHint: 'vuoto: subito',
  later: (moment) => `Invio: ${moment}.`,
  planned: 'La campagna è programmata.',
  preview: 'Sulla schermata di blocco',
  send: 'Invia',
  sendTitle: 'Inviare questo messaggio?',
  sent: 'La campagna è iniziata.',
  none: 'Ancora nessuna campagna.',
  started: 'Quando',
  state: 'Stato',
  finishing: 'Tutti i soci sono stati elaborati. La campagna si sta chiudendo.',
  matched: 'Soci',
  pushed: 'Inviati',
  skipped: 'Non su un telefono',
  failed: 'Non ancora raggiunti',
};
