// Programs and their posters.
import type { Catalogue } from '../en/index.js';

export const programs: Catalogue['programs'] = {
  lead: 'Vos cartes de fidélité : leur aspect, ce que l’on cumule et ce que l’on reçoit.',
  create: 'Nouvelle carte de fidélité',
  name: 'Nom',
  style: 'Type',
  styles: {
    stamps: 'Tampons',
    points: 'Points',
    tiered: 'Points avec niveaux',
  },
  /** What a new card begins with. */
  beginnings: { points: 'POINTS', stamps: 'TAMPONS', bronze: 'Bronze', silver: 'Argent', gold: 'Or' },
  program: 'Carte de fidélité',
  unit: 'Ce que l’on cumule',
  goal: 'Objectif',
  version: 'Version',
  state: 'État',
  open: 'Active',
  archived: 'Archivée',
  none: 'Aucune carte de fidélité.',
  inUtc:
    'Le fuseau horaire de cet appareil n’est pas connu ici : les jours et les heures sont comptés en UTC. Choisissez le vôtre sous « Expiration ».',
};

export const counterPoster: Catalogue['counterPoster'] = {
  title: 'Affiche pour le comptoir',
  hint: 'Le code QR de la page d’inscription, aux couleurs, avec le logo et dans la langue de la carte publiée.',
  format: 'Format',
  formats: {
    a4: 'A4',
    a5: 'A5',
    tent: 'Chevalet de table (A4 à plier)',
  },
  pdf: 'Télécharger le PDF',
  png: 'Télécharger l’image (PNG)',
  saved: 'L’affiche est dans vos téléchargements.',
  neverPublished: 'Publiez d’abord la carte : sa page n’existe pas encore.',
  archived: 'La carte est archivée : personne ne peut s’inscrire.',
  closed: 'La page est fermée : le code ne mènerait nulle part. Ouvrez-la et publiez.',
  lettersMissing: (letters: string) =>
    `Il manque aux polices de l’affiche ces lettres des textes de la carte : ${letters}`,
};
