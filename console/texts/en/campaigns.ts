// Campaigns.
import { wordsIn } from '../words.js';

const { many } = wordsIn('en');

export const campaigns = {
  lead: 'One message onto the cards of everyone who matches.',
  new: 'New campaign',
  program: 'Program',
  allPrograms: 'All programs',
  anyProgram: 'Your program',
  tags: 'With all of the tags',
  tagsHint: (tags: string[]) =>
    tags.length > 0 ? `separated by commas; in use: ${tags.join(', ')}` : 'separated by commas',
  message: 'Message',
  left: (characters: number) => `${characters} characters left`,
  audience: (members: number, isComplete: boolean) =>
    `Goes to ${isComplete ? '' : 'at least '}${many(members, 'active member', 'active members')}.`,
  preview: 'On the lock screen',
  send: 'Send',
  sendTitle: 'Send this message?',
  sent: 'The campaign has started.',
  none: 'No campaign yet.',
  started: 'Started',
  state: 'State',
  finishing: 'All members are done. The campaign is being closed.',
  matched: 'Members',
  pushed: 'Pushed',
  skipped: 'No phone',
  failed: 'Not reached yet',
};
