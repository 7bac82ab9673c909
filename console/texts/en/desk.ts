// The live desk.
import type { Hop } from '../../hops.js';
import { wordsIn } from '../words.js';

const { number } = wordsIn('en');

export const desk = {
  absent: 'The live desk belongs to the demo of `npm start`. This service runs without it.',
  ownersOnly: 'The live desk is the owner’s: it shows every mail, and ends parts of the service.',
  lead: 'A till and two virtual phones. Put a member’s card on the phones, tap at the till, and see it arrive.',
  switchOn: 'Switch on the phones',
  switchOnHint: 'The phones are switched on the first time this page is opened. It takes a few seconds.',
  switchingOn: 'Switching on…',
  technically: 'What happens then',
  standIns:
    'Stand-ins of Apple’s push service and of Google Wallet start on this machine. The worker and the API take test certificates for them while they run.',
  phones: 'Phones',
  find: 'Find a member',
  findHint: 'name, email, phone or Member ID; empty: the newest members',
  cardOf: { iphone: 'iPhone: card of', android: 'Android: card of' },
  choose: 'Choose a member',
  cardOption: (name: string, program: string) => `${name}, ${program}`,
  openMember: (name: string) => `Open ${name} in Members`,
  nobody: (words: string) => `No member here matches ${words}.`,
  noSaveUrl: 'Google has not made this card yet. Try again in a moment.',
  noCard: 'No card yet.',
  adding: 'The card is on its way…',
  flightOn: 'Flight mode',
  flightOff: 'End flight mode',
  give: 'At the till',
  message: 'Message for the lock screen',
  firstMessage: 'Thank you for your visit',
  giveOne: { stamp: 'Give a stamp', point: 'Give a point' },
  giveEach: 'Give a stamp and a point',
  redeem: 'Redeem',
  undo: 'Undo',
  firstCard: 'Put a card on a phone first: choose whose.',
  firstPhones: 'The phones are not on yet.',
  samples: 'Nobody has joined yet?',
  /** The last name of members who are no real people. */
  sample: '(sample)',
  join: 'Let Ada and Grace join',
  joining: 'Two people join…',
  breakdown: 'Simulate a failure (demo)',
  breakdownHint: 'No stamp is lost when a part of the service fails. End one, give a stamp, and see it arrive.',
  killWorker: 'Stop what tells phones',
  killTemporal: 'Stop what remembers the work',
  breakdownDetail:
    'One part tells phones and connected software of a change; another remembers what is left to do. Either ends in the middle of its work and starts again by itself.',
  log: 'What happened',
  logHint: 'Times are counted from the moment at which the change was stored, wherever it was made.',
  noHops: 'Nothing has happened yet.',
  underWay: 'No phone has heard of it yet.',
  after: (ms: number) => `${number(ms)} ms`,
  hop: ({ what, who, name = '', detail = '', lockScreen, isSilent = false }: Hop): string => {
    const phone = who === 'android' ? 'Android' : 'iPhone';
    const sentences: Record<Hop['what'], string> = {
      changed: `${name}: ${detail}`,
      touched: `${name}: the card changed`,
      added: `${name}: the card is put on the ${phone === 'Android' ? 'Android phone' : phone}`,
      flightOn: 'Flight mode on',
      flightOff: 'Flight mode off',
      killed:
        detail === 'worker' ? 'The part that tells phones was stopped' : 'The part that remembers the work was stopped',
      starting: 'The phones are being switched on',
      ready: 'The phones are on',
      mail: `Mail: ${detail}`,
      push: 'Apple tells the iPhone that a card has changed',
      list: 'iPhone asks which',
      fetch: 'iPhone fetches the card',
      add: 'iPhone gets the card',
      register: 'iPhone asks to be told of changes',
      saved: 'Android has saved the card',
      face: `${phone} shows ${detail}${lockScreen === undefined ? '' : `; lock screen: ${lockScreen}`}${isSilent ? '; nothing on the lock screen: Google shows three messages of a card a day there' : ''}`,
    };
    return sentences[what];
  },
  gone: 'The desk does not answer; trying again.',
};
