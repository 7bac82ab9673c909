// The overview.
import { wordsIn } from '../words.js';

const { growth, many, number } = wordsIn('en');

export const overview = {
  days: 'Days',
  ranges: {
    '30': 'Last 30 days',
    '90': 'Last 90 days',
    '399': 'Last 399 days',
  },
  numbers: 'At a glance',
  today: 'Visits today',
  dayBefore: (visits: number) => `${number(visits)} a week ago`,
  returning: 'Customers who came back',
  visits: (visits: number) => `${many(visits, 'visit', 'visits')} in 7 days`,
  joined: 'New members in 7 days',
  rewarded: 'Rewards in 7 days',
  cost: (costs: string) => (costs ? `for ${costs}` : 'nothing spent'),
  nearlyFull: 'Cards nearly full',
  nearlyFullHint: 'at most a fifth is missing',
  away: 'Away for 30 days',
  awayHint: 'have not come for 30 days',
  change: (percent: number) => `${growth(percent)} on the 7 days before`,
  same: 'as in the 7 days before',
  noneBefore: 'none in the 7 days before',
  hint: 'A customer counts once a day. Starting balances of an import are no visits; what was undone is left out.',
  visitsByDay: 'Visits',
  newMembers: 'New members',
  rewards: 'Rewards',
  onPhones: 'Added to phones',
  given: 'Given',
  forRewards: 'For rewards',
  expired: 'Expired',
  amount: (amount: number, isStamps: boolean) =>
    isStamps ? many(amount, 'stamp', 'stamps') : many(amount, 'point', 'points'),
  byProgram: 'By loyalty card',
  noProgram: 'No loyalty card',
  steps: 'Three steps to your first stamp',
  design: 'Design your loyalty card',
  designHint: 'Name, colours, and what people collect.',
  publish: 'Publish it and print the poster',
  publishHint: 'Customers join with the code on the poster.',
  firstStamp: 'Give the first stamp',
  firstStampHint: 'At the till, or on the page of a member.',
  done: 'Done',
  notDone: 'Not done yet',
};
