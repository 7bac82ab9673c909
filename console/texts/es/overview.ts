// The overview.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { growth, many, number } = wordsIn('es');

export const overview: Catalogue['overview'] = {
  days: 'Periodo',
  ranges: {
    '30': 'Últimos 30 días',
    '90': 'Últimos 90 días',
    '399': 'Últimos 399 días',
  },
  numbers: 'De un vistazo',
  today: 'Visitas de hoy',
  dayBefore: (visits: number) => `${number(visits)} hace una semana`,
  returning: 'Clientes que han vuelto',
  visits: (visits: number) => `${many(visits, 'visita', 'visitas')} en 7 días`,
  joined: 'Socios nuevos en 7 días',
  rewarded: 'Recompensas en 7 días',
  cost: (costs: string) => (costs ? `por ${costs}` : 'nada gastado'),
  nearlyFull: 'Tarjetas casi llenas',
  nearlyFullHint: 'falta como mucho una quinta parte',
  away: 'Ausentes desde hace 30 días',
  awayHint: 'no han venido en 30 días',
  change: (percent: number) => `${growth(percent)} respecto a los 7 días anteriores`,
  same: 'como en los 7 días anteriores',
  noneBefore: 'nada en los 7 días anteriores',
  hint: 'Un cliente cuenta una vez al día. Los saldos iniciales de una importación no son visitas; lo deshecho no cuenta.',
  visitsByDay: 'Visitas',
  newMembers: 'Socios nuevos',
  rewards: 'Recompensas',
  onPhones: 'Añadidas a teléfonos',
  given: 'Dados',
  forRewards: 'Para recompensas',
  expired: 'Caducados',
  amount: (amount: number, isStamps: boolean) =>
    isStamps ? many(amount, 'sello', 'sellos') : many(amount, 'punto', 'puntos'),
  byProgram: 'Por tarjeta de fidelidad',
  noProgram: 'Ninguna tarjeta de fidelidad',
  steps: 'Tres pasos hasta el primer sello',
  design: 'Diseñe su tarjeta de fidelidad',
  designHint: 'Nombre, colores y lo que se acumula.',
  publish: 'Publíquela e imprima el cartel',
  publishHint: 'Los clientes se dan de alta con el código del cartel.',
  firstStamp: 'Dé el primer sello',
  firstStampHint: 'En la caja o en la página de un socio.',
  done: 'Hecho',
  notDone: 'Aún no hecho',
};
