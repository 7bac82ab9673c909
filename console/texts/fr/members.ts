// The list of members, mails with their cards, and all that is kept about one.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { either, many } = wordsIn('fr');

export const members: Catalogue['members'] = {
  search: 'Rechercher',
  searchHint: 'nom, e-mail, téléphone ou numéro de membre',
  program: 'Carte de fidélité',
  allPrograms: 'Toutes les cartes de fidélité',
  cardNumber: 'Ancien numéro de client',
  cardNumberHint: 'exactement comme sur la carte',
  audience: 'Qui',
  audiences: {
    '': 'Tout le monde',
    today: 'Venus aujourd’hui',
    returning: 'Revenus ces 7 derniers jours',
    rewarded: 'Récompensés ces 7 derniers jours',
    joined: 'Inscrits ces 7 derniers jours',
    nearlyFull: 'Carte presque pleine',
    away: 'Absents depuis 30 jours',
  },
  lastVisit: 'Dernière visite',
  found: (total: number) => many(total, 'membre', 'membres'),
  download: 'Télécharger la liste (CSV)',
  none: 'Aucun résultat.',
  person: 'Personne',
  email: 'E-mail',
  code: 'Numéro de membre',
  balance: 'Solde',
  status: 'État',
  since: 'Depuis',
  statuses: { active: 'Active', voided: 'Bloquée', expired: 'Expirée' },
  enroll: 'Ajouter un membre',
  into: 'Carte de fidélité',
  firstName: 'Prénom',
  lastName: 'Nom',
  enrolled: 'Ajouté.',
  known: 'Cette personne est déjà membre.',
};

export const cardMails: Catalogue['cardMails'] = {
  mail: 'Envoyer les cartes par e-mail',
  title: 'Envoyer leurs cartes à ces personnes ?',
  send: (people: number) => `Envoyer à ${many(people, 'personne', 'personnes')}`,
  people: (people: number, minutes: number) =>
    people === 0
      ? 'Personne dans cette importation n’a d’adresse e-mail.'
      : `${many(people, 'personne reçoit', 'personnes reçoivent')} un e-mail avec le lien vers la carte. Cela prend environ ${many(minutes, 'minute', 'minutes')}.`,
  withoutEmail: (people: number) =>
    `${many(people, 'personne n’a', 'personnes n’ont')} pas d’adresse e-mail et ne ${either(people, 'reçoit', 'reçoivent')} rien.`,
  once: 'Chaque personne le reçoit une fois, même si vous recommencez.',
  started: 'Les e-mails sont en route.',
  isStarted: 'Les cartes ont été envoyées par e-mail.',
};

export const memberData: Catalogue['memberData'] = {
  title: 'Tout ce qui est conservé',
  titleOf: (name: string) => `Tout ce qui est conservé sur ${name}`,
  json: 'En fichier (JSON)',
  print: 'Imprimer',
  yes: 'Oui',
  no: 'Non',
  leftOut: 'Votre rôle ne peut pas lire le journal ; il est donc omis.',
  fields: {
    lifetimePoints: 'Cumulé en tout',
    message: 'Dernier message sur la carte',
    source: 'Arrivé par',
    sources: {
      api: 'Un système connecté',
      console: 'La console',
      import: 'Une importation',
      public: 'La page d’inscription',
    },
    createdAt: 'Ajouté le',
    visitDays: 'Jours avec une visite',
    lastRewardAt: 'Dernière récompense',
    word: 'Mot',
    before: 'Solde avant',
    after: 'Solde après',
    receipt: 'Ticket',
    soldAt: 'Heure à la caisse',
    report: 'Ce que le téléphone a signalé',
    line: 'Ligne du fichier',
    columns: 'Colonnes du fichier',
    cells: 'Cellules de la ligne',
    mails: {
      'card-link': 'Lien vers la carte',
      confirmation: 'Confirmation de l’e-mail',
      'sign-in': 'Lien de connexion',
      invitation: 'Invitation',
    },
    mailStates: {
      queued: 'En attente',
      sent: 'Envoyé',
      failed: 'Non envoyé',
    },
    sentAt: 'Envoyé le',
  },
  sections: {
    members: 'La personne et sa carte',
    emails: 'E-mail',
    externalIds: 'Ancien numéro de client',
    memberSearchWords: 'Mots par lesquels on trouve la personne',
    timeline: 'Ce qui s’est passé',
    ledger: 'Points et récompenses',
    events: 'Signalé à vos systèmes',
    devices: 'Téléphones avec la carte',
    removals: 'Retirée de téléphones',
    deviceLogs: 'Problèmes signalés par les téléphones',
    requests: 'Requêtes de vos systèmes',
    deliveries: 'Envois à vos systèmes',
    audit: 'Qui a modifié quoi',
    importChunks: 'Lignes de fichiers importés',
    batchTargets: 'Campagnes et importations',
    mails: 'E-mails',
    idempotencyKeys: 'Réponses conservées pour les requêtes répétées',
  },
};
