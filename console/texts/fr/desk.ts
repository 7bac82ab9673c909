// The live desk.

import type { Hop } from '../../hops.js';
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { number } = wordsIn('fr');

export const desk: Catalogue['desk'] = {
  absent: 'La démonstration en direct appartient à la démo de `npm start`. Ce service fonctionne sans elle.',
  ownersOnly:
    'La démonstration en direct est réservée au propriétaire : elle montre chaque e-mail et arrête des parties du service.',
  lead: 'Une caisse et deux téléphones virtuels. Mettez la carte d’un membre sur les téléphones, donnez un tampon à la caisse et regardez-le arriver.',
  switchOn: 'Allumer les téléphones',
  switchOnHint: 'Les téléphones s’allument à la première ouverture de cette page. Cela prend quelques secondes.',
  switchingOn: 'Allumage…',
  technically: 'Ce qui se passe alors',
  standIns:
    'Des remplaçants du service push d’Apple et de Google Wallet démarrent sur cette machine. Le worker et l’API acceptent leurs certificats d’essai tant qu’ils fonctionnent.',
  phones: 'Téléphones',
  find: 'Chercher un membre',
  findHint: 'nom, e-mail, téléphone ou numéro de membre ; vide : les membres les plus récents',
  cardOf: { iphone: 'iPhone : carte de', android: 'Android : carte de' },
  choose: 'Choisir un membre',
  cardOption: (name: string, program: string) => `${name}, ${program}`,
  openMember: (name: string) => `Ouvrir ${name} dans « Membres »`,
  nobody: (words: string) => `Aucun membre ne correspond à ${words}.`,
  noSaveUrl: 'Google n’a pas encore créé cette carte. Réessayez dans un instant.',
  noCard: 'Pas encore de carte.',
  adding: 'La carte est en route…',
  flightOn: 'Mode avion',
  flightOff: 'Quitter le mode avion',
  give: 'À la caisse',
  message: 'Message pour l’écran verrouillé',
  firstMessage: 'Merci de votre visite',
  giveOne: { stamp: 'Donner un tampon', point: 'Donner un point' },
  giveEach: 'Donner un tampon et un point',
  redeem: 'Remettre',
  undo: 'Annuler',
  firstCard: 'Mettez d’abord une carte sur un téléphone : choisissez de qui.',
  firstPhones: 'Les téléphones ne sont pas encore allumés.',
  samples: 'Personne ne s’est encore inscrit ?',
  /** The last name of members who are no real people. */
  sample: '(exemple)',
  join: 'Inscrire Ada et Grace',
  joining: 'Deux personnes s’inscrivent…',
  breakdown: 'Simuler une panne (démo)',
  breakdownHint:
    'Aucun tampon n’est perdu quand une partie du service tombe en panne. Arrêtez-en une, donnez un tampon et voyez-le arriver.',
  killWorker: 'Arrêter les notifications',
  killTemporal: 'Arrêter la liste des tâches',
  breakdownDetail:
    'Une partie avertit les téléphones et les logiciels connectés ; une autre retient ce qui reste à faire. Chacune s’arrête en plein travail et redémarre d’elle-même.',
  log: 'Ce qui s’est passé',
  logHint: 'Les temps comptent à partir du moment où le changement a été enregistré, où que ce soit.',
  noHops: 'Rien ne s’est encore passé.',
  underWay: 'Aucun téléphone n’en est encore averti.',
  after: (ms: number) => `${number(ms)} ms`,
  hop: ({ what, who, name = '', detail = '', lockScreen, isSilent = false }: Hop): string => {
    const phone = who === 'android' ? 'Android' : 'iPhone';
    const sentences: Record<Hop['what'], string> = {
      changed: `${name} : ${detail}`,
      touched: `${name} : la carte a changé`,
      added: `${name} : la carte est mise sur ${phone === 'Android' ? 'le téléphone Android' : 'l’iPhone'}`,
      flightOn: 'Mode avion activé',
      flightOff: 'Mode avion désactivé',
      killed: detail === 'worker' ? 'Les notifications ont été arrêtées' : 'La liste des tâches a été arrêtée',
      starting: 'Les téléphones s’allument',
      ready: 'Les téléphones sont allumés',
      mail: `E-mail : ${detail}`,
      push: 'Apple dit à l’iPhone qu’une carte a changé',
      list: 'L’iPhone demande laquelle',
      fetch: 'L’iPhone va chercher la carte',
      add: 'L’iPhone reçoit la carte',
      register: 'L’iPhone demande à être averti des changements',
      saved: 'Android a enregistré la carte',
      face: `${phone} montre ${detail}${lockScreen === undefined ? '' : ` ; écran verrouillé : ${lockScreen}`}${isSilent ? ' ; rien sur l’écran verrouillé : Google y montre trois messages d’une carte par jour' : ''}`,
    };
    return sentences[what];
  },
  gone: 'La démonstration ne répond pas ; nouvel essai.',
};
