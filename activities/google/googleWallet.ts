// What the service can ask of Google Wallet. Everything here may be asked twice: the second time finds the work done, or
// does it again without harm, unless its comment says otherwise. Failures are GoogleWalletError.
import type { GoogleFace, GoogleProgram } from './faces.js';
import type { GoogleWalletError } from './googleWalletError.js';

export interface GoogleMessage {
  id: string;
  header: string;
  body: string;
}

export interface GoogleObject {
  objectId: string;
  classId: string;
  /** ACTIVE, INACTIVE, EXPIRED, COMPLETED */
  state: string;
  /** True while at least one customer has the pass in a wallet. */
  hasUsers: boolean;
  /** As Google shows it. */
  balance: string;
  /** Oldest first, at most 10. */
  messages: GoogleMessage[];
}

export type BatchOutcome =
  | { memberId: string; objectId: string; outcome: 'inserted' | 'existed' }
  | { memberId: string; objectId: string; outcome: 'failed'; error: GoogleWalletError };

export interface GoogleWallet {
  /** Makes the program's class, or brings it up to date; an unchanged one is left alone and not reviewed again. */
  upsertClass: (program: GoogleProgram) => Promise<{ classId: string; outcome: 'inserted' | 'updated' | 'unchanged' }>;
  /** The class must exist (not_found). An object that exists is left as it is. */
  insertObject: (face: GoogleFace) => Promise<{ objectId: string; outcome: 'inserted' | 'existed' }>;
  /** `notified` is false where the pass's daily notifications were used up: the change itself is made all the same. */
  patchObject: (face: GoogleFace, how: { notify: boolean }) => Promise<GoogleObject & { notified: boolean }>;
  /**
   * Three a pass in 24 h notify; the next ones arrive silently. Google keeps a message sent twice as two: `checkFirst`
   * looks for its id before, at the cost of one more request, and is for second attempts.
   */
  addMessage: (
    objectId: string,
    message: GoogleMessage,
    how?: { checkFirst?: boolean },
  ) => Promise<{ outcome: 'notified' | 'silent' | 'existed' }>;
  /** Null for an object that was never inserted. */
  getObject: (objectId: string) => Promise<GoogleObject | null>;
  /** A page of the class's objects, and where the next one begins; nothing of a class that was never made. */
  listObjects: (classId: string, page?: string) => Promise<{ objects: GoogleObject[]; next?: string }>;
  /** One outcome a face, in their order. Does not throw for Google's refusals: each face has its own. */
  batchInsert: (faces: GoogleFace[]) => Promise<BatchOutcome[]>;
  saveUrl: (objectId: string, classId: string) => Promise<string>;
}
