// The rows of mails, and their indexes.
import { days, type IndexesOf } from '../shared/indexes.js';
import type { Language } from '../shared/languages/index.js';
import type { MailKind, MailState } from './mails.schema.js';

/** A mail to one person (activities/mail/queueMail.writes.ts). */
export interface MailRow {
  _id: string;
  merchantId: string;
  /** The member that the mail is about; absent on a mail to a user of the console, and until an address is confirmed. */
  memberId?: string;
  programId?: string;
  kind: MailKind;
  language: Language;
  state: MailState;
  /**
   * The address and the data of this mail, encrypted; removed when the mail was sent or given up, and of a confirmation
   * when it was used.
   */
  sealed?: string;
  /** Only of a confirmation that was not used: finds it by its address (schemas/shared/ids.ts). */
  mark?: string;
  /** Only of a confirmation that was not used: the end of its link, and of the row. */
  expiresAt?: Date;
  attempts: number;
  /** The error of the last attempt, without personal data. */
  failure?: string;
  /** The end of the lease of the current attempt; before the first one, its earliest time. */
  leasedUntil: Date;
  /** No attempt is made after this time. */
  triedUntil: Date;
  /** When the workflow of the mail counts as lost; absent once the mail was sent or given up. */
  dueAt?: Date;
  createdAt: Date;
  sentAt?: Date;
}

/**
 * When mails were, or will be, sent for one reason, to one address, or for one program: as many of the last as its
 * limit counts. The id is a keyed digest, which reveals no address without SECRETS_KEY.
 */
export interface MailCountRow {
  _id: string;
  merchantId: string;
  times: Date[];
  version: number;
  expiresAt: Date;
}

export interface MailCollections {
  mails: MailRow;
  mailCounts: MailCountRow;
}

export const mailIndexes: IndexesOf<MailCollections> = {
  mails: [
    { key: { memberId: 1 }, sparse: true, reason: 'the mails about a member, to erase them' },
    { key: { merchantId: 1, createdAt: -1 }, reason: 'the mails of a merchant, newest first' },
    { key: { dueAt: 1 }, sparse: true, reason: 'mails whose workflow is lost' },
    { key: { mark: 1 }, sparse: true, reason: 'what waits for the confirmation of an address, to erase it' },
    { key: { expiresAt: 1 }, expireAfterSeconds: 0, reason: 'an address that nobody confirms is not kept' },
    { key: { createdAt: 1 }, expireAfterSeconds: days(30), reason: 'a mail is kept 30 days' },
  ],
  mailCounts: [
    { key: { merchantId: 1 }, reason: 'the removal of a merchant' },
    { key: { expiresAt: 1 }, expireAfterSeconds: 0, reason: 'counts are kept for an hour' },
  ],
};
