// What people read of all that is kept about a person: for each section the fields with their labels and the words of
// their values. What has no label here is technical.

import type { Words } from '../parts/value.js';
import { texts } from '../texts.js';

export interface Kept {
  path: string;
  label: string;
  words?: Words;
}

const said = texts.memberData.fields;
const { member, members, webhooks, audit } = texts;
const wallets: Words = member.wallets;

const of = (path: string, label: string, words?: Words): Kept => ({ path, label, ...(words && { words }) });

const person = (before = ''): Kept[] => [
  of(`${before}firstName`, member.firstName),
  of(`${before}lastName`, member.lastName),
  of(`${before}email`, member.email),
  of(`${before}phone`, member.phone),
  of(`${before}externalId`, member.externalId),
];
const by = of('actor.name', member.by);

export const keptFields: Readonly<Record<string, readonly Kept[]>> = {
  members: [
    ...person(),
    of('memberCode', members.code),
    of('balance', members.balance),
    of('lifetimePoints', said.lifetimePoints),
    of('tier', member.tier),
    of('tags', member.tags),
    of('status', members.status, members.statuses),
    of('statusReason', member.statusReason),
    of('redeemedCount', member.redeemed),
    of('deviceCount', member.phones),
    of('pass.message', said.message),
    of('source', said.source, said.sources),
    of('joinedAt', members.since),
    of('createdAt', said.createdAt),
    of('lastVisitAt', members.lastVisit),
    of('visitDays', said.visitDays),
    of('lastRewardAt', said.lastRewardAt),
    of('language', texts.frame.language),
    of('consent.text', member.consent),
    of('consent.at', `${member.consent}: ${member.when}`),
    of('marketing.text', member.marketing),
    of('marketing.at', `${member.marketing}: ${member.when}`),
  ],
  externalIds: [of('externalId', member.externalId)],
  memberSearchWords: [of('word', said.word)],
  timeline: [
    of('occurredAt', member.when),
    of('type', member.what, member.timelineTypes),
    of('platform', member.wallet, wallets),
    of('outcome', member.outcome, member.outcomes),
    of('detail', member.detail),
  ],
  ledger: [
    of('createdAt', member.when),
    of('type', member.what, member.types),
    of('delta', member.change),
    of('previous', said.before),
    of('current', said.after),
    of('tier', member.tier),
    of('changeMessage', member.changeMessage),
    of('reason', member.reason),
    of('reference', said.receipt),
    of('location', texts.readers.place),
    of('occurredAt', said.soldAt),
    by,
  ],
  events: [of('occurredAt', member.when), of('type', webhooks.event)],
  devices: [
    of('registeredAt', member.registered),
    of('lastPush.at', member.lastPush),
    of('lastFetchedAt', member.lastFetch),
  ],
  removals: [of('reportedAt', member.when)],
  deviceLogs: [of('receivedAt', member.when), of('message', said.report)],
  requests: [of('createdAt', member.when), of('path', texts.requests.path), by],
  deliveries: [
    of('createdAt', member.when),
    of('eventType', webhooks.event),
    of('url', webhooks.receiver),
    of('state', webhooks.state, webhooks.states),
    of('attempts', webhooks.tries),
  ],
  audit: [
    of('createdAt', audit.when),
    of('action', audit.action, audit.actions),
    by,
    of('fields', audit.fields, texts.fieldNames),
  ],
  importChunks: [of('line', said.line), ...person('person.'), of('header', said.columns), of('cells', said.cells)],
  mails: [
    of('createdAt', member.when),
    of('kind', member.what, said.mails),
    of('state', members.status, said.mailStates),
    of('sentAt', said.sentAt),
  ],
  idempotencyKeys: [of('createdAt', member.when)],
};
