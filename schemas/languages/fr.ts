// French.
import type { Catalogue } from './en.js';

export const fr: Catalogue = {
  mail: {
    hello: 'Bonjour,',
    orOpen: 'Ou ouvrez cette adresse :',
    'card-link': {
      subject: (from) => `Votre carte : ${from}`,
      text: (from) =>
        `voici le lien vers votre carte ${from}. Ouvrez-le sur votre téléphone pour ajouter la carte à votre portefeuille.`,
      button: 'Ouvrir ma carte',
      why: (from) =>
        `Vous recevez ce message parce que quelqu’un a demandé une carte ${from} avec cette adresse. Si ce n’était pas vous, vous n’avez rien à faire.`,
    },
    'sign-in': {
      subject: (from) => `Connexion : ${from}`,
      text: (from) =>
        `ce lien vous connecte à la console de ${from}. Il fonctionne une seule fois, pendant 15 minutes.`,
      button: 'Se connecter',
      why: () => 'Si vous n’avez pas demandé ce lien, vous pouvez ignorer ce message.',
    },
    invitation: {
      subject: (from) => `Invitation : ${from}`,
      text: (from) =>
        `vous êtes invité à la console de ${from}. Le lien fonctionne une seule fois, pendant 15 minutes ; vous pourrez ensuite en demander un autre avec cette adresse.`,
      button: 'Accepter l’invitation',
      why: () => 'Si vous ne savez pas de quoi il s’agit, vous pouvez ignorer ce message.',
    },
  },
};
