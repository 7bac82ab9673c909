// The operations of Google Wallet that the service uses. Each one is idempotent unless its comment says otherwise.
// Errors are GoogleWalletError.

import type { GooglePassView, GoogleProgramView } from '../../../schemas/wallets/google/pass.view.js';
import type { GoogleWalletError } from './googleWalletError.rules.js';

export interface GoogleMessage {
  id: string;
  header: string;
  body: string;
}

export interface GoogleObject {
  objectId: string;
  classId: string;
  /** One of ACTIVE, INACTIVE, EXPIRED, COMPLETED. */
  state: string;
  /** True while at least one customer has the pass in a wallet. */
  hasUsers: boolean;
  /** The balance as Google shows it. */
  balance: string;
  /** Oldest first, at most 10. */
  messages: GoogleMessage[];
}

export type BatchOutcome =
  | { memberId: string; objectId: string; outcome: 'inserted' | 'existed' }
  | { memberId: string; objectId: string; outcome: 'failed'; error: GoogleWalletError };

export type PatchOutcome =
  | { memberId: string; outcome: 'patched'; hasUsers: boolean }
  | { memberId: string; outcome: 'failed'; error: GoogleWalletError };

export interface GoogleWalletApi {
  /**
   * Creates the program's class or updates it. An unchanged class is not written, so that Google does not review it
   * again.
   */
  upsertClass: (
    program: GoogleProgramView,
  ) => Promise<{ classId: string; outcome: 'inserted' | 'updated' | 'unchanged' }>;
  /** The class must exist, otherwise the error is `not_found`. An object that exists already is not changed. */
  insertObject: (view: GooglePassView) => Promise<{ objectId: string; outcome: 'inserted' | 'existed' }>;
  /** `notified` is false when the pass has used up its notifications of the day; the change itself is still made. */
  patchObject: (view: GooglePassView, how: { notify: boolean }) => Promise<GoogleObject & { notified: boolean }>;
  /** Makes the object of a member inactive, and removes what it shows of the member. Nobody is notified. */
  clearObject: (memberId: string) => Promise<void>;
  /**
   * Only three messages a pass in 24 h notify the customer; further ones arrive silently. Google shows a message that
   * was sent twice as two messages; look for its id in the object before a second attempt.
   */
  addMessage: (objectId: string, message: GoogleMessage) => Promise<{ outcome: 'notified' | 'silent' }>;
  /** Returns null for an object that was never inserted. */
  getObject: (objectId: string) => Promise<GoogleObject | null>;
  /**
   * Returns one page of the class's objects, and the token of the next page; an empty page for a class that does not
   * exist.
   */
  listObjects: (classId: string, page?: string) => Promise<{ objects: GoogleObject[]; next?: string }>;
  /** Returns one outcome for each view, in the same order. A refusal by Google is an outcome and is not thrown. */
  batchInsert: (views: GooglePassView[]) => Promise<BatchOutcome[]>;
  /**
   * Patches objects without notifying anybody, many in one request. Returns one outcome for each view, in the same
   * order.
   */
  batchPatch: (views: GooglePassView[]) => Promise<PatchOutcome[]>;
  saveUrl: (objectId: string, classId: string) => Promise<string>;
}
