// The list of members, mails with their cards, and all that is kept about one.
import { wordsIn } from '../words.js';

const { either, many } = wordsIn('en');

export const members = {
  search: 'Search',
  searchHint: 'name, email, phone or Member ID',
  program: 'Loyalty card',
  allPrograms: 'All loyalty cards',
  cardNumber: 'Old customer number',
  cardNumberHint: 'exactly as it is on the card',
  audience: 'Who',
  audiences: {
    '': 'Everybody',
    today: 'Came today',
    returning: 'Came back in the last 7 days',
    rewarded: 'Had a reward in the last 7 days',
    joined: 'Joined in the last 7 days',
    nearlyFull: 'Card nearly full',
    away: 'Away for 30 days',
  },
  lastVisit: 'Last visit',
  found: (total: number) => many(total, 'member', 'members'),
  download: 'Download the list (CSV)',
  none: 'Nobody matches.',
  person: 'Person',
  email: 'Email',
  code: 'Member ID',
  balance: 'Balance',
  status: 'Status',
  since: 'Since',
  statuses: { active: 'Active', voided: 'Blocked', expired: 'Expired' },
  enroll: 'Add a member',
  into: 'Loyalty card',
  firstName: 'First name',
  lastName: 'Last name',
  enrolled: 'Added.',
  known: 'This person is a member already.',
};

export const cardMails = {
  mail: 'Mail their cards',
  title: 'Mail these people their cards?',
  send: (people: number) => `Mail ${many(people, 'person', 'people')}`,
  people: (people: number, minutes: number) =>
    people === 0
      ? 'Nobody of this import has an email.'
      : `${many(people, 'person gets', 'people get')} a mail with the link to the card. It takes about ${many(minutes, 'minute', 'minutes')}.`,
  withoutEmail: (people: number) =>
    `${many(people, 'person has', 'people have')} no email and ${either(people, 'gets', 'get')} nothing.`,
  once: 'Each person gets it once, also when you ask again.',
  started: 'The mails are on their way.',
  isStarted: 'Their cards are mailed.',
};

export const memberData = {
  title: 'All that is kept',
  titleOf: (name: string) => `All that is kept about ${name}`,
  json: 'As a file (JSON)',
  print: 'Print',
  yes: 'Yes',
  no: 'No',
  leftOut: 'Your role may not read the audit, so it is left out.',
  fields: {
    lifetimePoints: 'Collected in all',
    message: 'Last message on the card',
    source: 'Came by',
    sources: {
      api: 'A connected system',
      console: 'The console',
      import: 'An import',
      public: 'The join page',
    },
    createdAt: 'Added',
    visitDays: 'Days with a visit',
    lastRewardAt: 'Last reward',
    word: 'Word',
    before: 'Balance before',
    after: 'Balance after',
    receipt: 'Receipt',
    soldAt: 'Time at the till',
    report: 'What the phone reported',
    line: 'Line of the file',
    columns: 'Columns of the file',
    cells: 'Cells of the line',
    mails: {
      'card-link': 'Link to the card',
      confirmation: 'Confirmation of the email',
      'sign-in': 'Sign-in link',
      invitation: 'Invitation',
    },
    mailStates: {
      queued: 'Waiting',
      sent: 'Sent',
      failed: 'Not sent',
    },
    sentAt: 'Sent on',
  },
  sections: {
    members: 'The person and the card',
    emails: 'Email',
    externalIds: 'Old customer number',
    memberSearchWords: 'Words by which the person is found',
    timeline: 'What happened',
    ledger: 'Points and rewards',
    events: 'Reported to your systems',
    devices: 'Phones with the card',
    removals: 'Removed from phones',
    deviceLogs: 'Problems that phones reported',
    requests: 'Requests of your systems',
    deliveries: 'Deliveries to your systems',
    audit: 'Who changed what',
    importChunks: 'Rows of imported files',
    batchTargets: 'Campaigns and imports',
    mails: 'Mails',
    idempotencyKeys: 'Answers that are kept for repeated requests',
  },
};
