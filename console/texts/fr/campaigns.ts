// Campaigns.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { many } = wordsIn('fr');

export const campaigns: Catalogue['campaigns'] = {
  lead: 'Un message sur les cartes de toutes les personnes concernées.',
  new: 'Nouvelle campagne',
  program: 'Carte de fidélité',
  allPrograms: 'Toutes les cartes de fidélité',
  anyProgram: 'Votre carte de fidélité',
  tags: 'Qui le reçoit',
  tagsHint: (tags: string[]) =>
    `membres avec toutes ces étiquettes, séparées par des virgules ; vide : tout le monde${tags.length > 0 ? ` ; utilisées : ${tags.join(', ')}` : ''}`,
  message: 'Message',
  left: (characters: number) => `Encore ${characters} caractères`,
  audience: (members: number, isComplete: boolean) =>
    `Pour ${isComplete ? '' : 'au moins '}${many(members, 'membre actif', 'membres actifs')}.`,
  preview: 'Sur l’écran verrouillé',
  send: 'Envoyer',
  sendTitle: 'Envoyer ce message ?',
  sent: 'La campagne a commencé.',
  none: 'Aucune campagne.',
  started: 'Début',
  state: 'État',
  finishing: 'Tous les membres sont traités. La campagne se termine.',
  matched: 'Membres',
  pushed: 'Envoyé',
  skipped: 'Pas sur un téléphone',
  failed: 'Pas encore joints',
};
