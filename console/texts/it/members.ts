// The list of members, mails with their cards, and all that is kept about one.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { either, many } = wordsIn('it');

export const members: Catalogue['members'] = {
  search: 'Cerca',
  searchHint: 'nome, e-mail, telefono o numero socio',
  program: 'Carta fedeltà',
  allPrograms: 'Tutte le carte fedeltà',
  cardNumber: 'Vecchio numero cliente',
  cardNumberHint: 'esattamente come sulla carta',
  audience: 'Chi',
  audiences: {
    '': 'Tutti',
    today: 'Venuti oggi',
    returning: 'Tornati negli ultimi 7 giorni',
    rewarded: 'Con un premio negli ultimi 7 giorni',
    joined: 'Iscritti negli ultimi 7 giorni',
    nearlyFull: 'Carta quasi piena',
    away: 'Assenti da 30 giorni',
  },
  lastVisit: 'Ultima visita',
  found: (total: number) => many(total, 'socio', 'soci'),
  download: 'Scarica l’elenco (CSV)',
  none: 'Nessun risultato.',
  person: 'Persona',
  email: 'E-mail',
  code: 'Numero socio',
  balance: 'Saldo',
  status: 'Stato',
  since: 'Dal',
  statuses: { active: 'Attiva', voided: 'Bloccata', expired: 'Scaduta' },
  enroll: 'Aggiungi un socio',
  into: 'Carta fedeltà',
  firstName: 'Nome',
  lastName: 'Cognome',
  enrolled: 'Aggiunto.',
  known: 'Questa persona è già socia.',
};

export const cardMails: Catalogue['cardMails'] = {
  mail: 'Invia le carte per e-mail',
  title: 'Inviare a queste persone le loro carte?',
  send: (people: number) => `Invia a ${many(people, 'persona', 'persone')}`,
  people: (people: number, minutes: number) =>
    people === 0
      ? 'Nessuno in questa importazione ha un’e-mail.'
      : `${many(people, 'persona riceve', 'persone ricevono')} un’e-mail con il link alla carta. Ci vogliono circa ${many(minutes, 'minuto', 'minuti')}.`,
  withoutEmail: (people: number) =>
    `${many(people, 'persona non ha', 'persone non hanno')} un’e-mail e non ${either(people, 'riceve', 'ricevono')} nulla.`,
  once: 'Ogni persona la riceve una volta, anche se lo ripete.',
  started: 'Le e-mail sono in viaggio.',
  isStarted: 'Le carte sono state inviate per e-mail.',
};

export const memberData: Catalogue['memberData'] = {
  title: 'Tutto ciò che è conservato',
  titleOf: (name: string) => `Tutto ciò che è conservato su ${name}`,
  json: 'Come file (JSON)',
  print: 'Stampa',
  yes: 'Sì',
  no: 'No',
  leftOut: 'Il Suo ruolo non può leggere il registro, perciò manca.',
  fields: {
    lifetimePoints: 'Raccolti in tutto',
    message: 'Ultimo messaggio sulla carta',
    source: 'Arrivo tramite',
    sources: {
      api: 'Un sistema collegato',
      console: 'La console',
      import: 'Un’importazione',
      public: 'La pagina d’iscrizione',
    },
    createdAt: 'Aggiunto il',
    visitDays: 'Giorni con una visita',
    lastRewardAt: 'Ultimo premio',
    word: 'Parola',
    before: 'Saldo prima',
    after: 'Saldo dopo',
    receipt: 'Scontrino',
    soldAt: 'Ora alla cassa',
    report: 'Segnalato dal telefono',
    line: 'Riga del file',
    columns: 'Colonne del file',
    cells: 'Celle della riga',
    mails: {
      'card-link': 'Link alla carta',
      confirmation: 'Conferma dell’email',
      'sign-in': 'Link di accesso',
      invitation: 'Invito',
    },
    mailStates: {
      queued: 'In attesa',
      sent: 'Inviata',
      failed: 'Non inviata',
    },
    sentAt: 'Inviata il',
  },
  sections: {
    members: 'La persona e la carta',
    emails: 'E-mail',
    externalIds: 'Vecchio numero cliente',
    memberSearchWords: 'Parole con cui si trova la persona',
    timeline: 'Che cosa è successo',
    ledger: 'Punti e premi',
    events: 'Comunicato ai Suoi sistemi',
    devices: 'Telefoni con la carta',
    removals: 'Tolta da telefoni',
    deviceLogs: 'Problemi segnalati dai telefoni',
    requests: 'Richieste dei Suoi sistemi',
    deliveries: 'Consegne ai Suoi sistemi',
    audit: 'Chi ha cambiato che cosa',
    importChunks: 'Righe di file importati',
    batchTargets: 'Campagne e importazioni',
    mails: 'E-mail',
    idempotencyKeys: 'Risposte conservate per richieste ripetute',
  },
};
