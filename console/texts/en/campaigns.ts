// Campaigns.
import { wordsIn } from '../words.js';

const { many, number } = wordsIn('en');

export const campaigns = {
  lead: 'One message onto the cards of everyone who matches.',
  new: 'New campaign',
  program: 'Loyalty card',
  allPrograms: 'All loyalty cards',
  anyProgram: 'Your loyalty card',
  tags: 'With all of these tags',
  tagsHint: (tags: string[]) =>
    `members with all of these tags, separated by commas; empty: everybody${tags.length > 0 ? `; in use: ${tags.join(', ')}` : ''}`,
  message: 'Message',
  left: (characters: number) => `${many(characters, 'character', 'characters')} left`,
  audience: ({ matched, reachable, complete }: { matched: number; reachable: number; complete: boolean }) =>
    `Goes to ${complete ? '' : 'at least '}${many(matched, 'active member', 'active members')}, ${number(reachable)} with the card on a phone.`,
  who: 'Who gets it',
  whoOf: (who: string): string => `Who gets it: ${who}`,
  when: 'Send at',
  whenHint: 'empty: at once',
  later: (moment: string) => `It is sent on ${moment}.`,
  planned: 'The campaign is planned.',
  preview: 'On the lock screen',
  send: 'Send',
  sendTitle: 'Send this message?',
  plan: 'Plan',
  planTitle: 'Plan this message?',
  sent: 'The campaign has started.',
  none: 'No campaign yet.',
  started: 'When',
  state: 'State',
  notSent: 'Nothing was sent.',
  finishing: 'All members have been processed. The campaign is being closed.',
  matched: 'Members',
  pushed: 'Sent',
  skipped: 'Not on a phone',
  failed: 'Not reached yet',
  today: 'That is the number of today.',
  automatic: 'Automatic messages',
  automaticLead: 'Each member gets each of them once: in each round to the reward, in each absence, after joining.',
  text: 'Text',
  messagesOf: 'Messages of',
  tells: ({ matched, reachable, complete }: { matched: number; reachable: number; complete: boolean }) =>
    `Today it would go to ${complete ? '' : 'at least '}${many(matched, 'member', 'members')}, ${number(reachable)} with the card on a phone.`,
  on: 'Send it by itself',
  hour: 'Time of day',
  zone: (zone: string) => `clock of ${zone}`,
  next: 'Next:',
  save: 'Save',
  saved: 'The automatic message is saved.',
  isAutomatic: 'Automatic',
};
