// English, and with it the texts that every catalogue has.

export const en = {
  mail: {
    hello: 'Hello,',
    orOpen: 'Or open this address:',
    'card-link': {
      subject: (from: string): string => `Your card: ${from}`,
      text: (from: string): string =>
        `here is the link to your card of ${from}. Open it on your phone to add the card to your wallet.`,
      button: 'Open my card',
      why: (from: string): string =>
        `You get this mail because somebody asked for a card of ${from} with this address. If it was not you, no action is needed.`,
    },
    'sign-in': {
      subject: (from: string): string => `Sign in: ${from}`,
      text: (from: string): string =>
        `with this link you sign in to the console of ${from}. It works once, for 15 minutes.`,
      button: 'Sign in',
      why: (): string => 'If you did not ask for this link, you can ignore this mail.',
    },
    invitation: {
      subject: (from: string): string => `Invitation: ${from}`,
      text: (from: string): string =>
        `you are invited to the console of ${from}. The link works once, for 15 minutes; after that you can ask for a new one with this address.`,
      button: 'Accept the invitation',
      why: (): string => 'If you do not know what this is about, you can ignore this mail.',
    },
  },
};

export type Catalogue = typeof en;
