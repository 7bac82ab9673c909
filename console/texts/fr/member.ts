// The page of a member.
import type { Catalogue } from '../en/index.js';
import { wordsIn } from '../words.js';

const { either, many, number, signed } = wordsIn('fr');

const amountOf = (count: number, isStamps: boolean): string =>
  isStamps ? many(count, 'tampon', 'tampons') : many(count, 'point', 'points');

export const member: Catalogue['member'] = {
  title: 'Membre',
  details: 'Détails',
  card: 'Carte',
  openCard: 'Ouvrir la carte web',
  tier: 'Niveau',
  externalId: 'Ancien numéro de client',
  expiring: 'Expire',
  expiringAt: (points: number, at: string) => `${number(points)} le ${at}`,
  consent: 'A accepté',
  marketing: 'A accepté la publicité',
  statusReason: 'Raison de l’état',
  person: 'Nom et coordonnées',
  personSaved: 'Enregistré.',
  firstName: 'Prénom',
  lastName: 'Nom',
  email: 'E-mail',
  phone: 'Téléphone',
  phones: 'Téléphones avec la carte',
  redeemed: 'Récompenses remises',
  rewardNamed: (reward: string) => `Récompense : ${reward}`,
  tags: 'Étiquettes',
  points: 'Points',
  stamps: 'Tampons',
  delta: (unit: string) => `Changement : ${unit}`,
  deltaHint: 'par exemple 10 ou -5',
  changeMessage: 'Message pour l’écran verrouillé',
  give: 'Modifier les points',
  howMany: 'Combien',
  giveStamps: (count: number) => either(count, 'Donner un tampon', 'Donner des tampons'),
  full: 'La carte est pleine. Elle accepte de nouveau des tampons après sa récompense.',
  room: (stamps: number) => `Il reste de la place pour ${many(stamps, 'tampon', 'tampons')} sur la carte.`,
  blocked: {
    voided: 'La carte est bloquée. Changez d’abord son état.',
    expired: 'La carte a expiré. Changez d’abord son état.',
  },
  takeTitle: (amount: number, unit: string) => `Retirer ${number(amount)} ${unit} ?`,
  takeHint: (name: string, balance: number, unit: string) =>
    `${name} a ${number(balance)} ${unit}. Tout est retiré, pas plus.`,
  takeAll: 'Tout retirer',
  giveTitle: (amount: number, unit: string) => `Donner ${number(amount)} ${unit} ?`,
  giveHint: (name: string, balance: number, unit: string) =>
    `C’est beaucoup en une fois : ${name} a ${number(balance)} ${unit}.`,
  giveAnyway: 'Donner quand même',
  plus: (amount: number) => `+${amount}`,
  undo: (delta: number) => `Annuler ${signed(delta)}`,
  undoReward: (reward: string) => `Annuler : ${reward}`,
  undoneReward: (reward: string) => `Annulé : ${reward}.`,
  changed: (unit: string, from: number, to: number) => `${unit} : ${number(from)} → ${number(to)}`,
  rewards: 'Récompenses',
  noRewards: 'Cette carte de fidélité n’a pas de récompense.',
  reward: 'Récompense',
  cost: 'Prix',
  redeem: 'Remettre',
  redeemReward: (name: string) => `Remettre ${name}`,
  redeemTitle: (reward: string, name: string) => `Remettre ${reward} à ${name} ?`,
  redeemHint: (cost: number, unit: string) =>
    `Cela coûte ${number(cost)} ${unit}. Pendant dix minutes, un clic l’annule.`,
  redeemedFor: (reward: string, name: string) => `Récompense remise à ${name} : ${reward}.`,
  missing: (missing: number) => `encore ${number(missing)}`,
  newTags: 'Nouvelles étiquettes',
  addTags: 'Ajouter des étiquettes',
  removeTag: (tag: string) => `Retirer l’étiquette ${tag}`,
  tagged: 'Étiquettes ajoutées.',
  untagged: 'Étiquette retirée.',
  newStatus: 'Nouvel état',
  reason: 'Raison',
  changeStatus: 'Changer l’état',
  statusChanged: 'État modifié.',
  pass: 'Carte sur les téléphones',
  push: 'Renvoyer la carte',
  pushed: (devices: number) => `Envoyée à ${many(devices, 'téléphone', 'téléphones')}.`,
  pushing: 'L’envoi est encore en cours.',
  replaceLink: 'Téléphone perdu : nouveau lien',
  replaceLinkHint:
    'L’ancien lien de la carte web cesse aussitôt de fonctionner. Les cartes sur les téléphones continuent.',
  linkReplaced: 'La carte a un nouveau lien.',
  phone_: 'Téléphone',
  kinds: { apple: (count: number) => (count === 0 ? 'iPhone' : `iPhone ${count}`), google: 'Android' },
  registered: 'Ajoutée',
  lastPush: 'Dernier avis envoyé',
  lastFetch: 'Dernière mise à jour',
  after: (ms: number) => `${number(ms)} ms après le changement`,
  noPhones: (mode: string) =>
    `${mode === 'stub' ? 'Les cartes ne peuvent pas encore être ajoutées aux téléphones. ' : ''}Aucun téléphone n’a la carte.`,
  passFindings: {
    notBuilt:
      'La version la plus récente de la carte ne peut pas être créée. Vérifiez les images de la carte de fidélité et publiez-la encore une fois. Si cela ne suffit pas, donnez les détails ci-dessous à l’exploitant.',
    certificate:
      'Le certificat des cartes sur iPhone demande de l’attention. Donnez les détails ci-dessous à l’exploitant avant que les cartes ne soient plus mises à jour.',
    notReachable: 'Les iPhone ne peuvent pas encore joindre ce service. Donnez les détails ci-dessous à l’exploitant.',
    asleep:
      'Un téléphone n’a pas chargé la carte la plus récente depuis des heures : il est éteint, ou la carte ne peut pas se mettre à jour. Demandez au client d’ouvrir la carte sur le téléphone et d’activer ses mises à jour automatiques.',
    notReached:
      'Un téléphone n’a pas pu être averti du dernier changement. Renvoyez la carte. Si cela ne suffit pas, donnez les détails ci-dessous à l’exploitant.',
    offline:
      'Un téléphone a été averti du dernier changement et ne l’a pas encore chargé. Il est sans doute hors ligne et chargera la carte dès qu’il sera de nouveau en ligne.',
    googleRefused:
      'Google n’a pas accepté le dernier changement. Un nouvel essai se fait tout seul. Si cela dure, donnez les détails ci-dessous à l’exploitant.',
    googleLater: 'Google n’a pas encore la carte. Elle y est créée toute seule.',
    complaints:
      'Des téléphones ont signalé des problèmes avec la carte ces 7 derniers jours. Donnez les détails ci-dessous à l’exploitant.',
    updatesOff:
      '« Mettre les cartes à jour automatiquement » est désactivé pour cette carte : dans les wallets, les cartes gardent ce qu’elles montraient lors de leur ajout.',
    noWallets:
      'Apple Wallet et Google Wallet ne sont pas configurés ; l’exploitant peut le faire. En attendant, les clients utilisent la carte web.',
    oneWallet:
      'L’un des deux Wallet n’est pas configuré ; l’exploitant peut le faire. En attendant, ses téléphones utilisent la carte web.',
    noPhone: 'Demandez au client d’ouvrir la carte web sur le téléphone et de l’y ajouter au Wallet.',
    other: 'Quelque chose demande de l’attention sur cette carte. Donnez les détails ci-dessous à l’exploitant.',
  },
  ledger: 'Points et récompenses',
  stampLedger: 'Tampons et récompenses',
  noLedger: 'Rien n’a encore changé le solde.',
  when: 'Quand',
  what: 'Quoi',
  change: 'Changement',
  after_: 'Solde',
  by: 'Par',
  byProgram: 'La carte de fidélité',
  note: 'Note',
  adjusted: (delta: number, isStamps: boolean) => {
    if (isStamps) return `${delta < 0 ? '-' : '+'}${amountOf(Math.abs(delta), isStamps)}`;
    return delta < 0 ? 'Points retirés' : 'Points donnés';
  },
  types: {
    initial: 'Solde de départ',
    adjust: 'Points donnés ou retirés',
    redeem: 'Récompense',
    earn: 'Achat',
    reversal: 'Annulé',
    expiry: 'Expiré',
  },
  reverse: 'Annuler l’opération',
  reverseOf: (delta: number) => `Annuler l’opération : ${signed(delta)}`,
  reverseTitle: 'Annuler cette opération ?',
  reverseHint: (delta: number, isStamps: boolean) => {
    const amount = amountOf(Math.abs(delta), isStamps);
    return delta > 0
      ? `${amount} ${either(delta, 'est retiré', 'sont retirés')} de la carte.`
      : `${amount} ${either(-delta, 'revient', 'reviennent')} sur la carte.`;
  },
  reversed: 'Annulé.',
  rewardBack: (reward: string) => `${reward} compte comme non remis.`,
  wasReversed: 'Annulé',
  timeline: 'Ce qui s’est passé',
  timelineCsv: 'En CSV',
  noTimeline: 'Rien ne s’est encore passé.',
  technical: 'Détails techniques',
  timelineTypes: {
    pass_built: 'Carte créée',
    device_registered: 'Carte ajoutée à un téléphone',
    device_unregistered: 'Carte retirée d’un téléphone',
    device_stale: 'Le téléphone n’a pas demandé la carte depuis 6 heures',
    push_sent: 'iPhone averti d’un changement',
    google_object_patched: 'Carte mise à jour sur Android',
    google_object_saved: 'Carte ajoutée sur Android',
    google_object_removed: 'Carte retirée sur Android',
    reward_redeemed: 'Récompense remise',
    reward_reversed: 'Récompense annulée',
    points_expired: 'Expiré',
    pass_scanned: 'Carte scannée',
    card_link_replaced: 'Nouveau lien de la carte',
    pass_token_replaced: 'Nouveau lien et nouvelle carte',
  },
  wallet: 'Portefeuille',
  wallets: { apple: 'Apple', google: 'Google' },
  outcome: 'Résultat',
  outcomes: { success: 'Réussi', failure: 'Échec', skipped: 'Pas sur un téléphone' },
  detail: 'Détail',
  personalData: 'Données personnelles',
  changesOf: 'Qui a modifié quoi',
  readAll: 'Lire tout ce qui est conservé',
  exportAll: 'Exporter tout ce qui est conservé',
  erase: 'Supprimer définitivement',
  eraseTitle: (name: string) => `Supprimer ${name} définitivement ?`,
  eraseHint: 'C’est irréversible. Ce qui sera perdu :',
  losesBalance: (balance: number, unit: string) => `le solde : ${number(balance)} ${unit}`,
  losesPhones: (phones: number) => `la carte sur ${many(phones, 'téléphone', 'téléphones')}`,
  losesNames: 'nom, e-mail, téléphone, étiquettes, messages et ce qui s’est passé',
  keepsLedger: 'Les points et les récompenses restent dans vos chiffres, sans nom.',
  erased: 'Supprimé définitivement.',
};
