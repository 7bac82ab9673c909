// German.
import type { Catalogue } from './en.js';

export const de: Catalogue = {
  mail: {
    hello: 'Hallo,',
    orOpen: 'Oder öffnen Sie diese Adresse:',
    'card-link': {
      subject: (from) => `Ihre Karte: ${from}`,
      text: (from) =>
        `hier ist der Link zu Ihrer Karte von ${from}. Öffnen Sie ihn auf Ihrem Telefon, um die Karte in Ihr Wallet zu legen.`,
      button: 'Meine Karte öffnen',
      why: (from) =>
        `Sie erhalten diese Nachricht, weil jemand mit dieser Adresse eine Karte von ${from} angefordert hat. Wenn Sie das nicht waren, müssen Sie nichts tun.`,
    },
    'sign-in': {
      subject: (from) => `Anmelden: ${from}`,
      text: (from) =>
        `mit diesem Link melden Sie sich bei der Konsole von ${from} an. Er gilt einmal, 15 Minuten lang.`,
      button: 'Anmelden',
      why: () => 'Wenn Sie diesen Link nicht angefordert haben, können Sie diese Nachricht ignorieren.',
    },
    invitation: {
      subject: (from) => `Einladung: ${from}`,
      text: (from) =>
        `Sie sind zur Konsole von ${from} eingeladen. Der Link gilt einmal, 15 Minuten lang; danach können Sie mit dieser Adresse einen neuen anfordern.`,
      button: 'Einladung annehmen',
      why: () => 'Wenn Sie nicht wissen, worum es geht, können Sie diese Nachricht ignorieren.',
    },
  },
};
