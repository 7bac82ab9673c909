// The personal data of each collection, and what the erasure of a member, the export of a member and the removal of a
// merchant do with it. All three work from this table, and docs/customers-data.md shows it. A collection without a line
// does not compile.
import type { Document } from 'mongodb';
import type { EventRow } from '../events/events.rows.js';
import { keyedOperations } from '../points/ledger.schema.js';
import { confirmationMark } from '../shared/ids.js';
import { type Counted, countedOf } from '../stats/stats.schema.js';
import type { CollectionName } from '../tables/collections.js';
import { unfinishedStates } from '../webhooks/webhooks.schema.js';

/** The values by which the rows about a member are found. Unknown values match nothing. */
export interface Whose {
  memberId: string;
  merchantId: string;
  programId: string;
  serialNumber?: string | undefined;
  /** May hold values that are no emails, which match nothing. */
  emails?: readonly string[];
  externalId?: string | undefined;
}

/** Filters; or `batches` for the files and target lists of batches, whose rows contain many people. */
type OfMember = ((whose: Whose) => Document[]) | 'batches';

export interface Clear {
  /** Only these of the rows. */
  where?: Document;
  change: (now: Date) => Document;
  /** What a row adds to the overview when it is cleared in this state, because its publication will not count it. */
  counts?: (row: Document) => Counted[];
}

export interface Kept {
  holds: string;
  /** How long the rows are kept. */
  kept: string;
  /** The rows about a member. Absent: no row of the collection is about a member. */
  ofMember?: OfMember;
  /** A description of what is left after an erasure. */
  left?: string;
  /** What an erasure does with the rows that the filters find. Absent: they stay unchanged. */
  erase?: 'remove' | Clear;
  /** Fields that are never exported, because they allow their holder to act as somebody else. */
  secret?: readonly string[];
  /** Rows without a `merchantId`. */
  ofNobody?: true;
}

const forever = 'until it is erased';
const withMerchant = 'merchant’s lifetime';

/** All ids that begin with `prefix`, which ends with a colon. */
export const idsWith = (prefix: string) => ({ _id: { $gte: prefix, $lt: `${prefix.slice(0, -1)};` } });
const byMember = ({ memberId }: Whose): Document[] => [{ memberId }];

export const personalData: Record<CollectionName, Kept> = {
  merchants: { holds: 'name, limits and suspension of a merchant', kept: 'until the merchant is removed' },
  programs: { holds: 'the live version of each program', kept: withMerchant },
  programDrafts: { holds: 'the newest edit of each program, and its author', kept: withMerchant },
  programVersions: { holds: 'the published versions of each program, and who published them', kept: withMerchant },
  slugs: { holds: 'the address of each program', kept: withMerchant },
  members: {
    holds:
      'name, email, phone, external id, tags, attribution, consents, reason of the status, balance, card link, last message, when automatic messages were written',
    kept: forever,
    ofMember: ({ memberId }) => [{ _id: memberId }],
    erase: 'remove',
    left: 'nothing',
    secret: ['pass.authenticationToken'],
  },
  emails: {
    holds: 'which member has an email',
    kept: 'as long as the member has the email',
    ofMember: ({ memberId, programId, emails = [] }) =>
      emails.map((email) => ({ _id: `${programId}:${email}`, memberId })),
    erase: 'remove',
    left: 'nothing',
  },
  externalIds: {
    holds: 'which member has an external id, such as the number of a plastic card',
    kept: 'as long as the member has it',
    ofMember: ({ memberId, programId, externalId }) =>
      externalId === undefined ? [] : [{ _id: `${programId}:${externalId}`, memberId }],
    erase: 'remove',
    left: 'nothing',
  },
  memberSearchWords: {
    holds: 'the words by which a member is found',
    kept: 'as long as the member has them',
    ofMember: ({ memberId }) => [idsWith(`${memberId}:`)],
    erase: 'remove',
    left: 'nothing',
  },
  stats: { holds: 'counts of each program by day', kept: withMerchant },
  requests: {
    holds: 'requests and their answers: path, masked query and body, idempotency key, actor, status',
    kept: '7 days',
    ofMember: byMember,
    erase: 'remove',
    left: 'nothing',
  },
  counters: { holds: 'the numbers of members, events and other rows', kept: withMerchant },
  expiries: { holds: 'since when the points of a program expire', kept: withMerchant },
  tags: { holds: 'the tags in use', kept: 'while a member has the tag' },
  ledger: {
    holds: 'each change of a balance: numbers, receipt, place, message, actor',
    kept: withMerchant,
    ofMember: byMember,
    erase: {
      change: () => ({
        $unset: { changeMessage: '', reason: '', reference: '', location: '', fingerprint: '', 'actor.name': '' },
      }),
    },
    left: 'the numbers, without message, reason, receipt, place and the name of the actor',
  },
  idempotencyKeys: {
    holds: 'answers to changes and enrollments, batches of requests',
    kept: '3 days',
    ofMember: ({ memberId }) => [
      ...keyedOperations.map((operation) => idsWith(`${operation}:${memberId}:`)),
      { memberId },
    ],
    // The row stays, so that an enrollment that is sent again does not bring the person back.
    erase: { change: () => ({ $set: { fingerprint: '' }, $unset: { response: '' } }) },
    left: 'the keys, until then',
  },
  events: {
    holds: 'the events as they are sent to subscribers: name, email, code, changes, messages',
    kept: '90 days',
    ofMember: byMember,
    // Empty bytes and results prevent processes that read the event earlier from writing them again.
    erase: {
      where: { erasedAt: { $exists: false } },
      change: (now) => ({
        $set: {
          data: {},
          envelope: Buffer.alloc(0),
          passUpdate: null,
          state: 'published',
          leaseOwner: '',
          erasedAt: now,
        },
        $unset: {
          passAction: '',
          mandatory: '',
          targetsId: '',
          sequence: '',
          pushDueAt: '',
          fence: '',
          traceparent: '',
          initialPoints: '',
          corrects: '',
          visit: '',
        },
      }),
      counts: (event) => (event.state === 'new' ? countedOf(event as EventRow) : []),
    },
    left: 'type, time and id of the event, and the event `member.deleted`',
  },
  classUpdates: { holds: 'programs whose class is to be updated at Google', kept: 'until it is updated' },
  deliveries: {
    holds: 'the attempts to send an event: address, time and status; no payload',
    kept: '30 days',
    ofMember: byMember,
    erase: {
      where: { state: { $in: unfinishedStates } },
      change: () => ({
        $set: { state: 'exhausted', error: 'erased', nextAttemptAt: null },
        $unset: { dueGroup: '', dueAt: '' },
      }),
    },
    left: 'the line of the log; a delivery that is not made yet ends as `exhausted` with the error `erased`',
  },
  waitingSubscriptions: { holds: 'subscriptions with deliveries in the queue', kept: 'while there are any' },
  subscriptions: {
    holds: 'addresses of webhook receivers, and their secrets',
    kept: withMerchant,
    secret: ['secrets'],
  },
  timeline: {
    holds: 'what happened to a member’s passes, and which till scanned them',
    kept: '400 days',
    ofMember: byMember,
    erase: 'remove',
    left: 'nothing',
  },
  devices: {
    holds: 'the phones with the pass: device id, push token, last push and fetch',
    kept: 'until the pass is removed from the phone',
    ofMember: byMember,
    erase: 'remove',
    left: 'nothing',
  },
  removals: {
    holds: 'recent removals of passes from phones',
    kept: 'an hour',
    ofMember: byMember,
    erase: 'remove',
    left: 'nothing',
  },
  erasures: {
    holds: 'ids of erased members and the time; until the last run also the values by which traces are found',
    kept: withMerchant,
    ofMember: ({ memberId }) => [{ _id: memberId }],
    left: 'ids and time',
  },
  googleClears: {
    holds: 'ids of erased members whose object Google has not cleared yet',
    kept: 'until Google has cleared it',
    ofNobody: true,
  },
  spentCodes: { holds: 'digests of the codes of erased members, which are never reused', kept: withMerchant },
  deviceLogs: {
    holds: 'problems that phones report about their passes',
    kept: '7 days',
    ofMember: ({ serialNumber }) => (serialNumber === undefined ? [] : [{ serialNumber }]),
    erase: 'remove',
    left: 'nothing',
    ofNobody: true,
  },
  apiKeys: {
    holds: 'name, roles and creator of API keys',
    kept: 'until 30 days after the key has ended',
    secret: ['hash'],
  },
  readers: {
    holds: 'name and place of a till, hash of its token, how many taps arrived',
    kept: 'until 30 days after it is revoked',
    secret: ['tokenHash', 'code.hash'],
  },
  taps: { holds: 'numbers of taps that arrived from a till', kept: 'until they are counted' },
  roles: { holds: 'names and permissions of roles', kept: withMerchant },
  batches: { holds: 'imports, campaigns, replays: progress, counts, message, who started them', kept: withMerchant },
  importChunks: {
    holds: 'the rows of imported files, and their outcomes',
    kept: '7 days after the import, longer while passes are missing',
    ofMember: 'batches',
    left: 'the number of the row and its outcome',
  },
  batchTargets: {
    holds: 'ids of the members or events that a batch processes',
    kept: '7 days after the batch',
    ofMember: 'batches',
    left: 'the word `erased` in place of the id',
  },
  automaticMessages: { holds: 'automatic messages of programs, who changed them', kept: withMerchant },
  users: { holds: 'people who sign in to the console: email, roles, last sign-in', kept: 'until the user is removed' },
  sessions: { holds: 'who is signed in to the console', kept: 'until the session ends' },
  signInLinks: {
    holds: 'email of users who requested a sign-in link or were invited',
    kept: '24 hours at most',
    ofNobody: true,
  },
  mails: {
    holds:
      'mails to members and users: kind, language, state; encrypted, the address until it is sent, and what a person entered until the address is confirmed',
    kept: '30 days; an address that is not confirmed 24 hours',
    ofMember: ({ merchantId, memberId, programId, emails = [] }) => [
      { memberId },
      ...emails.map((email) => ({ mark: confirmationMark(programId, email), merchantId })),
    ],
    erase: 'remove',
    left: 'nothing here; mails that an SMTP server accepted cannot be removed',
    secret: ['sealed'],
  },
  mailCounts: { holds: 'keyed digests of addresses that were mailed, and when', kept: 'an hour after the mail' },
  audit: {
    holds: 'each change and its actor: ids, fields, values but of persons and secrets, network, request id',
    kept: '400 days',
    ofMember: ({ memberId, merchantId }) => [{ merchantId, targetId: memberId }],
    left: 'ids and states',
  },
  nonces: { holds: 'random numbers of Google’s callbacks', kept: '30 days', ofNobody: true },
  probes: { holds: 'whether MongoDB accepts writes, and the time of the last backup', kept: 'always', ofNobody: true },
};
