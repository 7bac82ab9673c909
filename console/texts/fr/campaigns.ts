// Campaigns.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { many, number } = wordsIn('fr');

export const campaigns: Catalogue['campaigns'] = {
  lead: 'Un message sur les cartes de toutes les personnes concernées.',
  new: 'Nouvelle campagne',
  program: 'Carte de fidélité',
  allPrograms: 'Toutes les cartes de fidélité',
  anyProgram: 'Votre carte de fidélité',
  tags: 'Avec toutes ces étiquettes',
  tagsHint: (tags: string[]) =>
    `membres avec toutes ces étiquettes, séparées par des virgules ; vide : tout le monde${tags.length > 0 ? ` ; utilisées : ${tags.join(', ')}` : ''}`,
  message: 'Message',
  left: (characters: number) => `Encore ${many(characters, 'caractère', 'caractères')}`,
  audience: ({ matched, reachable, complete }) =>
    `Pour ${complete ? '' : 'au moins '}${many(matched, 'membre actif', 'membres actifs')}, dont ${number(reachable)} avec la carte sur un téléphone.`,
  who: 'Qui le reçoit',
  whoOf: (who) => `Qui le reçoit : ${who}`,
  when: 'Envoyer le',
  whenHint: 'vide : tout de suite',
  later: (moment) => `Envoi le ${moment}.`,
  planned: 'La campagne est planifiée.',
  preview: 'Sur l’écran verrouillé',
  send: 'Envoyer',
  sendTitle: 'Envoyer ce message ?',
  plan: 'Planifier',
  planTitle: 'Planifier ce message ?',
  sent: 'La campagne a commencé.',
  none: 'Aucune campagne.',
  started: 'Quand',
  state: 'État',
  notSent: 'Rien n’a été envoyé.',
  finishing: 'Tous les membres sont traités. La campagne se termine.',
  matched: 'Membres',
  pushed: 'Envoyés',
  skipped: 'Pas sur un téléphone',
  failed: 'Pas encore joints',
  today: 'C’est le nombre d’aujourd’hui.',
  automatic: 'Messages automatiques',
  automaticLead:
    'Chaque membre reçoit chacun d’eux une fois : à chaque tour vers la récompense, à chaque absence, après l’inscription.',
  text: 'Texte',
  messagesOf: 'Messages de',
  tells: ({ matched, reachable, complete }) =>
    `Aujourd’hui, il irait à ${complete ? '' : 'au moins '}${many(matched, 'membre', 'membres')}, dont ${number(reachable)} avec la carte sur un téléphone.`,
  on: 'Envoyer tout seul',
  hour: 'Heure',
  zone: (zone) => `heure de ${zone}`,
  next: 'Prochaine fois :',
  save: 'Enregistrer',
  saved: 'Le message automatique est enregistré.',
  isAutomatic: 'Automatique',
};
