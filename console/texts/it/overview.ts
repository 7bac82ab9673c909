// The overview.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { growth, many, number } = wordsIn('it');

export const overview: Catalogue['overview'] = {
  days: 'Periodo',
  ranges: {
    '30': 'Ultimi 30 giorni',
    '90': 'Ultimi 90 giorni',
    '399': 'Ultimi 399 giorni',
  },
  numbers: 'In breve',
  today: 'Visite di oggi',
  dayBefore: (visits: number) => `${number(visits)} una settimana fa`,
  returning: 'Clienti tornati',
  visits: (visits: number) => `${many(visits, 'visita', 'visite')} in 7 giorni`,
  joined: 'Nuovi soci in 7 giorni',
  rewarded: 'Premi in 7 giorni',
  cost: (costs: string) => (costs ? `per ${costs}` : 'niente speso'),
  nearlyFull: 'Carte quasi piene',
  nearlyFullHint: 'manca al massimo un quinto',
  away: 'Assenti da 30 giorni',
  awayHint: 'non vengono da 30 giorni',
  change: (percent: number) => `${growth(percent)} rispetto ai 7 giorni prima`,
  same: 'come nei 7 giorni prima',
  noneBefore: 'niente nei 7 giorni precedenti',
  hint: 'Un cliente conta una volta al giorno. I saldi iniziali di un’importazione non sono visite; ciò che è stato annullato non conta.',
  visitsByDay: 'Visite',
  newMembers: 'Nuovi soci',
  rewards: 'Premi',
  onPhones: 'Aggiunte ai telefoni',
  given: 'Dati',
  forRewards: 'Per premi',
  expired: 'Scaduti',
  amount: (amount: number, isStamps: boolean) =>
    isStamps ? many(amount, 'timbro', 'timbri') : many(amount, 'punto', 'punti'),
  byProgram: 'Per carta fedeltà',
  noProgram: 'Nessuna carta fedeltà',
  steps: 'Tre passi fino al primo timbro',
  design: 'Disegni la Sua carta fedeltà',
  designHint: 'Nome, colori e che cosa si raccoglie.',
  publish: 'La pubblichi e stampi la locandina',
  publishHint: 'I clienti si iscrivono con il codice della locandina.',
  firstStamp: 'Dia il primo timbro',
  firstStampHint: 'Alla cassa o sulla pagina di un socio.',
  done: 'Fatto',
  notDone: 'Non ancora fatto',
};
