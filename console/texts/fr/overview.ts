// The overview.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { growth, many, number } = wordsIn('fr');

export const overview: Catalogue['overview'] = {
  days: 'Période',
  ranges: {
    '30': '30 derniers jours',
    '90': '90 derniers jours',
    '399': '399 derniers jours',
  },
  numbers: 'En bref',
  today: 'Visites aujourd’hui',
  dayBefore: (visits: number) => `${number(visits)} il y a une semaine`,
  returning: 'Clients revenus',
  visits: (visits: number) => `${many(visits, 'visite', 'visites')} en 7 jours`,
  joined: 'Nouveaux membres en 7 jours',
  rewarded: 'Récompenses en 7 jours',
  cost: (costs: string) => (costs ? `pour ${costs}` : 'rien dépensé'),
  nearlyFull: 'Cartes presque pleines',
  nearlyFullHint: 'il manque au plus un cinquième',
  away: 'Absents depuis 30 jours',
  awayHint: 'ne sont pas venus depuis 30 jours',
  change: (percent: number) => `${growth(percent)} par rapport aux 7 jours précédents`,
  same: 'comme les 7 jours précédents',
  noneBefore: 'rien les 7 jours précédents',
  hint: 'Un client compte une fois par jour. Les soldes de départ d’une importation ne sont pas des visites ; ce qui a été annulé n’est pas compté.',
  visitsByDay: 'Visites',
  newMembers: 'Nouveaux membres',
  rewards: 'Récompenses',
  onPhones: 'Ajoutées à un téléphone',
  given: 'Donnés',
  forRewards: 'Pour des récompenses',
  expired: 'Expirés',
  amount: (amount: number, isStamps: boolean) =>
    isStamps ? many(amount, 'tampon', 'tampons') : many(amount, 'point', 'points'),
  byProgram: 'Par carte de fidélité',
  noProgram: 'Aucune carte de fidélité',
  steps: 'Trois étapes jusqu’au premier tampon',
  design: 'Créez votre carte de fidélité',
  designHint: 'Nom, couleurs et ce que l’on cumule.',
  publish: 'Publiez-la et imprimez l’affiche',
  publishHint: 'Les clients s’inscrivent avec le code de l’affiche.',
  firstStamp: 'Donnez le premier tampon',
  firstStampHint: 'À la caisse ou sur la page d’un membre.',
  done: 'Fait',
  notDone: 'Pas encore fait',
};
