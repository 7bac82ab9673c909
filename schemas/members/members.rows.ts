// The rows of members, and their indexes.

import type { MemberExpiry } from '../points/expiry.rules.js';
import type { Stored } from '../shared/answers.js';
import { days, type IndexesOf } from '../shared/indexes.js';
import type { MemberSource, memberDetail, timelineItem } from './members.schema.js';

/** What only an answer about a member says. */
type Told = 'fieldValues' | 'program' | 'rewards' | 'expiring' | 'apple' | 'google' | 'deduped' | 'unchanged';

export interface MemberRow extends Omit<Stored<typeof memberDetail>, Told> {
  merchantId: string;
  /** E.164 of the phone number, which is stored as it was written. Absent where the country or the area code of the number is unknown. */
  phoneE164?: string;
  field: string;
  lifetimePoints: number;
  /** The version of the program that decided `tier`; 1 where it is absent. */
  programVersion?: number;
  /** Incremented by each change, whose write compares it. */
  version: number;
  pass: {
    /** Part of the public address of the member's web card. */
    token: string;
    /** Apple Wallet sends it as `Authorization: ApplePass <token>`. */
    authenticationToken: string;
    tag: Date;
    modifiedAt: Date;
    message?: string;
    messageSequence: number;
    /** Created by a quiet import: no receiver is notified when a wallet gets its pass. */
    quiet?: boolean;
    appleIssuedAt?: Date;
    googleIssuedAt?: Date;
    googleSaved?: boolean;
    /** Present when the object exists at Google. */
    googleSaveUrl?: string;
    /**
     * Since when the object at Google has to be created, or updated although no customer is known to have saved it
     * (activities/wallets/google/followObjects.activity.ts).
     */
    googleDueAt?: Date;
    /** Since when phones have to be told of a change that they could not be told (activities/wallets/apple/repush.activity.ts). */
    appleDueAt?: Date;
    /**
     * While a wallet has not accepted the pass: when the workflow that retries counts as lost
     * (activities/wallets/revivePasses.activity.ts). Each attempt moves it ahead.
     */
    issueDueAt?: Date;
  };
  ledgerCount: number;
  /** The last visit, or the creation where there is none. Absent on a row that an older version of the service wrote. */
  seenAt?: Date;
  /** `createdAt` of a member who was not imported: an import brings those who were customers before. */
  joinedAt?: Date;
  /** On how many days the member came, for visits that are not reversed. */
  visitDays?: number;
  /** The last redeem that is not reversed. */
  lastRewardAt?: Date;
  /** When the member last got each automatic message (schemas/members/audiences.rules.ts). */
  told?: { nearlyFull?: Date; away?: Date; joined?: Date };
  /** Absent when points do not expire, and until the first change of the member after the program got its rule. */
  expiry?: MemberExpiry;
  source: MemberSource;
  /** A digest of the cookie of the browser in which the member joined, to recognise a repeated submission. */
  formDigest?: string;
  attribution: Record<string, string>;
}

/**
 * The member that has an email in a program; the id is `<programId>:<email>`. The row is created and removed with the
 * address. A unique index on the email of a member would not work on the embedded engine: when a field changes, this
 * engine never frees the old value, and it lets two transactions take the same new value.
 */
export interface EmailRow {
  _id: string;
  merchantId: string;
  memberId: string;
  memberCode: string;
}

/**
 * The member that has an external id in a program; the id is `<programId>:<externalId>`. The row is created and removed
 * with the external id (docs/decisions/unique-names-are-rows.md).
 */
export interface ExternalIdRow {
  _id: string;
  merchantId: string;
  externalId: string;
  /** `codeForm` of the external id; member codes are never among them. */
  code: string;
  memberId: string;
}

/**
 * The search index: one row for each search word of a member. A word of `q` finds the rows whose word begins with it.
 */
export interface MemberSearchWordRow {
  _id: string;
  merchantId: string;
  word: string;
  /** `searchLevel` of the member. */
  level: number;
  memberId: string;
  programId: string;
  createdAt: Date;
}

/** The tags in use: one row for each merchant and tag, so that listing tags reads no members. */
export interface TagRow {
  _id: string;
  merchantId: string;
  tag: string;
}

export interface TimelineRow extends Stored<typeof timelineItem> {
  merchantId: string;
  memberId: string;
}

export interface FullName {
  firstName: string;
  lastName: string;
}

export interface MemberCollections {
  members: MemberRow;
  emails: EmailRow;
  externalIds: ExternalIdRow;
  memberSearchWords: MemberSearchWordRow;
  tags: TagRow;
  timeline: TimelineRow;
}

export const memberIndexes: IndexesOf<MemberCollections> = {
  members: [
    { key: { merchantId: 1, memberCode: 1 }, unique: true, reason: 'codes are unique in a merchant; `serial`; scans' },
    { key: { serialNumber: 1 }, unique: true, reason: "Apple's web service and legacy passes find by serial" },
    { key: { 'pass.token': 1 }, unique: true, reason: 'the web card' },
    { key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the list, newest first' },
    { key: { merchantId: 1, programId: 1, createdAt: -1, _id: -1 }, reason: 'the list of one program; campaigns' },
    { key: { merchantId: 1, programId: 1, seenAt: -1, _id: -1 }, reason: 'who came lately, and who did not' },
    {
      key: { merchantId: 1, programId: 1, joinedAt: -1, _id: -1 },
      partialFilterExpression: { joinedAt: { $exists: true } },
      reason: 'who joined lately: a large import is not read',
    },
    { key: { merchantId: 1, programId: 1, balance: -1, _id: -1 }, reason: 'whose card is nearly full' },
    {
      key: { merchantId: 1, 'pass.googleDueAt': 1 },
      partialFilterExpression: { 'pass.googleDueAt': { $exists: true } },
      reason: 'outdated objects at Google, merchant by merchant, oldest first',
    },
    {
      key: { merchantId: 1, deviceCount: 1 },
      partialFilterExpression: { deviceCount: { $gt: 0 } },
      reason: 'how many members have the card on an iPhone',
    },
    {
      key: { merchantId: 1, 'pass.googleSaved': 1 },
      partialFilterExpression: { 'pass.googleSaved': true },
      reason: 'how many have it at Google',
    },
    { key: { 'pass.appleDueAt': 1 }, sparse: true, reason: 'passes whose phones were not told of a change' },
    { key: { 'pass.issueDueAt': 1 }, sparse: true, reason: 'missing passes whose workflow is lost' },
    { key: { 'expiry.slice': 1, 'expiry.at': 1 }, sparse: true, reason: 'members by their next expiry, in slices' },
    { key: { merchantId: 1, tags: 1, createdAt: -1, _id: -1 }, reason: 'whether a tag is still in use; campaigns' },
  ],
  emails: [],
  externalIds: [
    {
      key: { merchantId: 1, externalId: 1 },
      reason: 'scans and `serial`: the member with this id in any program of a merchant',
    },
    { key: { code: 1 }, reason: 'new member codes are no external ids' },
  ],
  memberSearchWords: [
    {
      key: { merchantId: 1, level: 1, word: 1 },
      reason: '`q`: a range on a scalar after equalities costs only what matches in the level',
    },
  ],
  tags: [{ key: { merchantId: 1, tag: 1 }, unique: true, reason: 'all tags of a merchant in their order' }],
  timeline: [
    { key: { memberId: 1, occurredAt: -1, _id: -1 }, reason: 'the timeline of a member, newest first' },
    { key: { occurredAt: 1 }, expireAfterSeconds: days(400), reason: 'a bound on size' },
  ],
};
