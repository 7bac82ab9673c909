// Italian.
import type { Catalogue } from './en.js';

export const it: Catalogue = {
  mail: {
    hello: 'Salve,',
    orOpen: 'Oppure apra questo indirizzo:',
    'card-link': {
      subject: (from) => `La Sua carta: ${from}`,
      text: (from) =>
        `ecco il link alla Sua carta di ${from}. Lo apra sul telefono per aggiungere la carta al Suo wallet.`,
      button: 'Apri la mia carta',
      why: (from) =>
        `Riceve questo messaggio perché qualcuno ha richiesto una carta di ${from} con questo indirizzo. Se non è stato Lei, non deve fare nulla.`,
    },
    'sign-in': {
      subject: (from) => `Accesso: ${from}`,
      text: (from) => `con questo link accede alla console di ${from}. Funziona una sola volta, per 15 minuti.`,
      button: 'Accedi',
      why: () => 'Se non ha richiesto questo link, può ignorare questo messaggio.',
    },
    invitation: {
      subject: (from) => `Invito: ${from}`,
      text: (from) =>
        `è invitato alla console di ${from}. Il link funziona una sola volta, per 15 minuti; poi può richiederne un altro con questo indirizzo.`,
      button: 'Accetta l’invito',
      why: () => 'Se non sa di che cosa si tratta, può ignorare questo messaggio.',
    },
  },
};
