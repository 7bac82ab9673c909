// What stands around every page, and parts that many pages use.
import { wordsIn } from '../words.js';

const { number } = wordsIn('en');

export const nav = {
  overview: 'Overview',
  programs: 'Programs',
  members: 'Members',
  imports: 'Imports',
  campaigns: 'Campaigns',
  webhooks: 'Webhooks',
  readers: 'Readers',
  apiKeys: 'API keys',
  people: 'People',
  audit: 'Audit',
  liveDesk: 'Live desk',
};

/** The fields of the API as the screens name them. */
export const fieldNames = {
  firstName: 'First name',
  lastName: 'Last name',
  email: 'Email',
  phone: 'Phone',
  initialPoints: 'Starting balance',
  externalId: 'Old customer number',
  birthday: 'Birthday',
  delta: 'Change',
  changeMessage: 'Message for the lock screen',
  roleIds: 'Role',
  slug: 'Web address',
  programId: 'Loyalty card',
  name: 'Name',
  tags: 'Tags',
  status: 'Status',
};

export const menu = {
  everyDay: 'Every day',
  cardAndTeam: 'Card and team',
  connections: 'Connections',
};

export const frame = {
  product: 'Loyalty console',
  navigation: 'Pages',
  account: 'Account',
  language: 'Language',
  menu: 'Menu',
  skip: 'Skip to the content',
  loading: 'Loading…',
  justNow: 'just now',
  wrong: (field: string, mistake: string) => `${field} ${mistake}`,
  wrongElsewhere: (mistakes: string) => `Something is not right yet: ${mistakes}.`,
  working: 'Working…',
  save: 'Save',
  create: 'Create',
  cancel: 'Cancel',
  close: 'Close',
  copy: 'Copy',
  stored: 'I have stored it',
  dismiss: 'Dismiss',
  actions: 'Actions',
  none: '–',
  previous: 'Previous page',
  next: 'Next page',
  page: (page: number, pages: number, total: number) => `Page ${page} of ${pages}, ${number(total)} in all`,
  pagesOf: (table: string) => `Pages of ${table}`,
  filters: 'Filters',
  notFound: 'There is no such page',
  notAllowed: (permission: string) =>
    `Your role does not allow this (${permission}). An owner can give you another role, under People.`,
  notAnswered: 'The service does not answer. What you typed is still here.',
  pressAgain: 'The service does not answer. Press again: it counts once.',
  away: 'The service does not answer. Trying again every two seconds; what you typed stays here.',
  outdated: 'The console was updated. Reload the page: what you typed is kept.',
  reload: 'Reload',
  leaveTitle: 'Leave without saving?',
  leaveHint: 'Your changes are not saved yet. This tab keeps them until you come back.',
  leave: 'Leave the page',
  showAsCurl: 'Show as curl',
  calls: 'Calls of this tab',
  callsHint:
    'Everything here is a call of the public API. SESSION is the token of your session; most calls take an API key as well.',
  call: (method: string, path: string) => `${method} ${path}`,
  callTook: (status: number, ms: number) => (status === 0 ? 'no answer' : `${status}, ${ms} ms`),
};

export const till = {
  title: 'Till',
  open: 'Open the till',
  only: 'Give stamps and points, redeem rewards and undo: all of it is at the till.',
};

export const session = {
  signIn: 'Sign in',
  signOut: 'Sign out',
  signedIn: 'I have signed in',
  foreign: 'This session belongs to another console and ends there.',
  ended: 'Your session has ended',
  endedHint: 'Sign in again in another tab and come back. What you typed is kept.',
};

export const phases = {
  scheduled: 'Planned',
  storing: 'Uploading',
  queued: 'Waiting',
  creating: 'Adding members',
  publishing: 'Making cards',
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export const images = {
  drop: (label: string) => `${label}: drop a picture`,
  choose: (label: string) => `${label}: choose a file`,
  chooseShort: 'Choose a file',
  remove: (label: string) => `${label}: remove`,
  removeShort: 'Remove',
  unreadable: 'This file is no picture that can be read.',
  notSquare: (width: number, height: number) =>
    `The picture is ${width} x ${height}, and this one has to be square. Cut it to a square first.`,
};

export const phones = {
  iphone: 'iPhone',
  android: 'Android',
  front: 'Front',
  back: 'Back',
  lock: 'Lock screen',
  older: 'Before iOS 27',
  actions: {
    membershipBenefits: 'View Membership Benefits',
    order: 'Order Delivery and Pickup',
    call: 'Call',
  },
  views: (phone: string) => `Views of ${phone}`,
  code: (value: string) => `QR code ${value}`,
  nothing: 'Shown once the draft has no mistakes.',
  noMessage: 'No message',
  publicPage: 'Join page',
};

export const plots = {
  of: (title: string, series: string[]) => `${title} by day: ${series.join(', ')}. The table below has the numbers.`,
  table: (title: string) => `${title} as a table`,
  gone: 'The plot could not be loaded. The table has its numbers; reload the page to see it.',
  day: 'Day',
  none: 'Nothing yet.',
};
