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
  whoOf: (who) => `Chi lo riceve: ${who}`,
  when: 'Invia il',
  whenHint: 'vuoto: subito',
  later: (moment) => `Invio: ${moment}.`,
  planned: 'La campagna è programmata.',
  preview: 'Sulla schermata di blocco',
  send: 'Invia',
  sendTitle: 'Inviare questo messaggio?',
  plan: 'Programma',
  planTitle: 'Programmare questo messaggio?',
  sent: 'La campagna è iniziata.',
  none: 'Ancora nessuna campagna.',
  started: 'Quando',
  state: 'Stato',
  notSent: 'Non è stato inviato nulla.',
  finishing: 'Tutti i soci sono stati elaborati. La campagna si sta chiudendo.',
  matched: 'Soci',
  pushed: 'Inviati',
  skipped: 'Non su un telefono',
  failed: 'Non ancora raggiunti',
  today: 'È il numero di oggi.',
  automatic: 'Messaggi automatici',
  automaticLead:
    'Ogni socio riceve ciascuno una volta: a ogni giro verso il premio, a ogni assenza, dopo l’iscrizione.',
  text: 'Testo',
  messagesOf: 'Messaggi di',
  tells: ({ matched, reachable, complete }) =>
    `Oggi arriverebbe ${complete ? '' : 'almeno '}a ${many(matched, 'socio', 'soci')}, ${number(reachable)} con la carta su un telefono.`,
  on: 'Invia da solo',
  hour: 'Ora',
  zone: (zone) => `ora di ${zone}`,
  next: 'Prossima volta:',
  save: 'Salva',
  saved: 'Il messaggio automatico è salvato.',
  isAutomatic: 'Automatico',
};
