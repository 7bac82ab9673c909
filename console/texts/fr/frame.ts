// What stands around every page, and parts that many pages use.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { number } = wordsIn('fr');

export const nav: Catalogue['nav'] = {
  overview: 'Vue d’ensemble',
  programs: 'Cartes de fidélité',
  members: 'Membres',
  imports: 'Importations',
  campaigns: 'Campagnes',
  webhooks: 'Webhooks',
  readers: 'Appareils de caisse',
  apiKeys: 'Clés API',
  people: 'Personnes',
  audit: 'Journal',
  liveDesk: 'Démonstration en direct',
};

/** The fields of the API as the screens name them. */
export const fieldNames: Catalogue['fieldNames'] = {
  firstName: 'Prénom',
  lastName: 'Nom',
  email: 'E-mail',
  phone: 'Téléphone',
  initialPoints: 'Solde de départ',
  externalId: 'Ancien numéro de client',
  birthday: 'Date de naissance',
  delta: 'Changement',
  changeMessage: 'Message pour l’écran verrouillé',
  roleIds: 'Rôle',
  slug: 'Adresse web',
  programId: 'Carte de fidélité',
  name: 'Nom',
  tags: 'Étiquettes',
  status: 'État',
};

export const menu: Catalogue['menu'] = {
  everyDay: 'Chaque jour',
  cardAndTeam: 'Carte et équipe',
  connections: 'Connexions',
};

export const frame: Catalogue['frame'] = {
  product: 'Console de fidélité',
  navigation: 'Pages',
  account: 'Compte',
  language: 'Langue',
  menu: 'Menu',
  skip: 'Aller au contenu',
  loading: 'Chargement…',
  justNow: 'à l’instant',
  wrong: (field: string, mistake: string) => `${field} : ${mistake}`,
  wrongElsewhere: (mistakes: string) => `Quelque chose ne va pas encore : ${mistakes}.`,
  working: 'En cours…',
  save: 'Enregistrer',
  create: 'Créer',
  cancel: 'Annuler',
  close: 'Fermer',
  copy: 'Copier',
  stored: 'Je l’ai conservé',
  dismiss: 'Masquer',
  actions: 'Actions',
  none: '–',
  previous: 'Page précédente',
  next: 'Page suivante',
  page: (page: number, pages: number, total: number) => `Page ${page} sur ${pages}, ${number(total)} au total`,
  pagesOf: (table: string) => `Pages de ${table}`,
  filters: 'Filtres',
  notFound: 'Cette page n’existe pas',
  notAllowed: (permission: string) =>
    `Votre rôle ne le permet pas (${permission}). Un propriétaire peut vous donner un autre rôle, sous « Personnes ».`,
  notAnswered: 'Le service ne répond pas. Ce que vous avez saisi est toujours là.',
  pressAgain: 'Le service ne répond pas. Appuyez encore : cela compte une seule fois.',
  away: 'Le service ne répond pas. Nouvel essai toutes les deux secondes ; ce que vous avez saisi reste ici.',
  outdated: 'La console a été mise à jour. Rechargez la page : ce que vous avez saisi est conservé.',
  reload: 'Recharger',
  leaveTitle: 'Quitter sans enregistrer ?',
  leaveHint: 'Vos modifications ne sont pas encore enregistrées. Cet onglet les garde jusqu’à votre retour.',
  leave: 'Quitter la page',
  showAsCurl: 'Afficher en curl',
  calls: 'Appels de cet onglet',
  callsHint:
    'Tout ici est un appel de l’API publique. SESSION est le jeton de votre session ; la plupart des appels acceptent aussi une clé API.',
  call: (method: string, path: string) => `${method} ${path}`,
  callTook: (status: number, ms: number) => (status === 0 ? 'pas de réponse' : `${status}, ${ms} ms`),
};

export const till: Catalogue['till'] = {
  title: 'Caisse',
  open: 'Ouvrir la caisse',
  only: 'Donner des tampons et des points, remettre des récompenses et annuler : tout se fait à la caisse.',
};

export const session: Catalogue['session'] = {
  signIn: 'Se connecter',
  signOut: 'Se déconnecter',
  signedIn: 'Je suis connecté',
  foreign: 'Cette session appartient à une autre console et s’y termine.',
  ended: 'Votre session est terminée',
  endedHint: 'Reconnectez-vous dans un autre onglet et revenez. Ce que vous avez saisi est conservé.',
};

export const phases: Catalogue['phases'] = {
  scheduled: 'Planifié',
  storing: 'Envoi du fichier',
  queued: 'En attente',
  creating: 'Ajout des membres',
  publishing: 'Création des cartes',
  running: 'En cours',
  completed: 'Terminé',
  failed: 'Échoué',
  cancelled: 'Annulé',
};

export const images: Catalogue['images'] = {
  drop: (label: string) => `${label} : déposer une image`,
  choose: (label: string) => `${label} : choisir un fichier`,
  chooseShort: 'Choisir un fichier',
  remove: (label: string) => `${label} : retirer`,
  removeShort: 'Retirer',
  unreadable: 'Ce fichier n’est pas une image lisible.',
  notSquare: (width: number, height: number) =>
    `L’image fait ${width} x ${height}, or elle doit être carrée. Recadrez-la d’abord.`,
};

export const phones: Catalogue['phones'] = {
  iphone: 'iPhone',
  android: 'Android',
  front: 'Recto',
  back: 'Verso',
  lock: 'Écran verrouillé',
  older: 'Avant iOS 27',
  actions: {
    membershipBenefits: 'Voir les avantages',
    order: 'Commander en livraison ou à emporter',
    call: 'Appeler',
  },
  views: (phone: string) => `Vues : ${phone}`,
  code: (value: string) => `Code QR ${value}`,
  nothing: 'S’affiche dès que le brouillon n’a plus d’erreur.',
  noMessage: 'Aucun message',
  publicPage: 'Page d’inscription',
};

export const plots: Catalogue['plots'] = {
  of: (title: string, series: string[]) =>
    `${title} par jour : ${series.join(', ')}. Les chiffres sont dans le tableau ci-dessous.`,
  table: (title: string) => `${title} en tableau`,
  gone: 'Le graphique n’a pas pu être chargé. Les chiffres sont dans le tableau ; rechargez la page pour le voir.',
  day: 'Jour',
  none: 'Rien pour le moment.',
};
