// What stands around every page, and parts that many pages use.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { number } = wordsIn('it');

export const nav: Catalogue['nav'] = {
  overview: 'Panoramica',
  programs: 'Carte fedeltà',
  members: 'Soci',
  imports: 'Importazioni',
  campaigns: 'Campagne',
  webhooks: 'Webhook',
  readers: 'Dispositivi di cassa',
  apiKeys: 'Chiavi API',
  people: 'Persone',
  audit: 'Registro',
  liveDesk: 'Dimostrazione dal vivo',
};

/** The fields of the API as the screens name them. */
export const fieldNames: Catalogue['fieldNames'] = {
  firstName: 'Nome',
  lastName: 'Cognome',
  email: 'E-mail',
  phone: 'Telefono',
  initialPoints: 'Saldo iniziale',
  externalId: 'Vecchio numero cliente',
  birthday: 'Data di nascita',
  delta: 'Variazione',
  changeMessage: 'Messaggio per la schermata di blocco',
  roleIds: 'Ruolo',
  slug: 'Indirizzo web',
  programId: 'Carta fedeltà',
  name: 'Nome',
  tags: 'Etichette',
  status: 'Stato',
};

export const menu: Catalogue['menu'] = {
  everyDay: 'Ogni giorno',
  cardAndTeam: 'Carta e squadra',
  connections: 'Collegamenti',
};

export const frame: Catalogue['frame'] = {
  product: 'Console fedeltà',
  navigation: 'Pagine',
  account: 'Account',
  language: 'Lingua',
  menu: 'Menu',
  skip: 'Vai al contenuto',
  loading: 'Caricamento…',
  justNow: 'proprio ora',
  wrong: (field: string, mistake: string) => `${field}: ${mistake}`,
  wrongElsewhere: (mistakes: string) => `Qualcosa non va ancora: ${mistakes}.`,
  working: 'In corso…',
  save: 'Salva',
  create: 'Crea',
  cancel: 'Annulla',
  close: 'Chiudi',
  copy: 'Copia',
  stored: 'L’ho conservato',
  dismiss: 'Nascondi',
  actions: 'Azioni',
  none: '–',
  previous: 'Pagina precedente',
  next: 'Pagina successiva',
  page: (page: number, pages: number, total: number) => `Pagina ${page} di ${pages}, ${number(total)} in tutto`,
  pagesOf: (table: string) => `Pagine di ${table}`,
  filters: 'Filtri',
  notFound: 'Questa pagina non esiste',
  notAllowed: (permission: string) =>
    `Il Suo ruolo non lo consente (${permission}). Un titolare può dargliene un altro in «Persone».`,
  notAnswered: 'Il servizio non risponde. Ciò che ha scritto è ancora qui.',
  pressAgain: 'Il servizio non risponde. Prema di nuovo: conta una volta sola.',
  away: 'Il servizio non risponde. Nuovo tentativo ogni due secondi; ciò che ha scritto resta qui.',
  outdated: 'La console è stata aggiornata. Ricarichi la pagina: ciò che ha scritto resta.',
  reload: 'Ricarica',
  leaveTitle: 'Uscire senza salvare?',
  leaveHint: 'Le Sue modifiche non sono ancora salvate. Questa scheda le conserva finché non torna.',
  leave: 'Lascia la pagina',
  showAsCurl: 'Mostra come curl',
  calls: 'Chiamate di questa scheda',
  callsHint:
    'Tutto qui è una chiamata dell’API pubblica. SESSION è il token della Sua sessione; la maggior parte delle chiamate accetta anche una chiave API.',
  call: (method: string, path: string) => `${method} ${path}`,
  callTook: (status: number, ms: number) => (status === 0 ? 'nessuna risposta' : `${status}, ${ms} ms`),
};

export const till: Catalogue['till'] = {
  title: 'Cassa',
  open: 'Apri la cassa',
  only: 'Dare timbri e punti, riscattare premi e annullare: tutto si fa alla cassa.',
};

export const session: Catalogue['session'] = {
  signIn: 'Accedi',
  signOut: 'Esci',
  signedIn: 'Ho effettuato l’accesso',
  foreign: 'Questa sessione appartiene a un’altra console e finisce lì.',
  ended: 'La Sua sessione è terminata',
  endedHint: 'Acceda di nuovo in un’altra scheda e torni qui. Ciò che ha scritto resta.',
};

export const phases: Catalogue['phases'] = {
  scheduled: 'Programmato',
  storing: 'Invio del file',
  queued: 'In attesa',
  creating: 'Aggiunta dei soci',
  publishing: 'Creazione delle carte',
  running: 'In corso',
  completed: 'Completato',
  failed: 'Non riuscito',
  cancelled: 'Annullato',
};

export const images: Catalogue['images'] = {
  drop: (label: string) => `${label}: trascini un’immagine`,
  choose: (label: string) => `${label}: scegli un file`,
  chooseShort: 'Scegli un file',
  remove: (label: string) => `${label}: rimuovi`,
  removeShort: 'Rimuovi',
  unreadable: 'Questo file non è un’immagine leggibile.',
  notSquare: (width: number, height: number) =>
    `L’immagine è ${width} x ${height}, ma deve essere quadrata. La ritagli prima.`,
};

export const phones: Catalogue['phones'] = {
  iphone: 'iPhone',
  android: 'Android',
  front: 'Fronte',
  back: 'Retro',
  lock: 'Schermata di blocco',
  older: 'Prima di iOS 27',
  actions: {
    membershipBenefits: 'Vedi i vantaggi',
    order: 'Ordina a domicilio o da asporto',
    call: 'Chiama',
  },
  views: (phone: string) => `Viste di ${phone}`,
  code: (value: string) => `Codice QR ${value}`,
  nothing: 'Appare quando la bozza non ha errori.',
  noMessage: 'Nessun messaggio',
  publicPage: 'Pagina d’iscrizione',
};

export const plots: Catalogue['plots'] = {
  of: (title: string, series: string[]) =>
    `${title} per giorno: ${series.join(', ')}. I numeri sono nella tabella sotto.`,
  table: (title: string) => `${title} come tabella`,
  gone: 'Il grafico non si è caricato. I numeri sono nella tabella; ricarichi la pagina per vederlo.',
  day: 'Giorno',
  none: 'Ancora niente.',
};
