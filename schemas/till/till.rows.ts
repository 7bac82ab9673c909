// The rows of readers and of their taps, and their indexes.
import type { Stored } from '../shared/answers.js';
import { days, type IndexesOf } from '../shared/indexes.js';
import type { reader } from './readers.schema.js';
import type { Taps } from './taps.rules.js';

/** A reader: one device at a till. */
export interface ReaderRow
  extends Omit<
    Stored<typeof reader, 'location' | 'programIds' | 'lookupBy' | 'pairedAt' | 'revokedAt' | 'lastSeenAt' | 'waiting'>,
    'received' | 'missing' | 'overdue'
  > {
  merchantId: string;
  /** The code that pairs the next device. Only its hash is stored. */
  code?: { hash: string; expiresAt: Date };
  /** The hash of the token of the device that is paired. */
  tokenHash?: string;
  /** How many devices were paired. */
  pairings: number;
  /** The taps of the device that is paired, without those in `taps`. */
  taps: Taps;
  /** Those of devices that were paired before, oldest first. */
  former: (Taps & { pairing: number })[];
  /** Grows with each change of `taps`, which compare it. */
  version: number;
}

/** A tap that arrived, until it is counted in the row of its reader. The id is made of reader, pairing and sequence. */
export interface TapRow {
  _id: string;
  merchantId: string;
  readerId: string;
  pairing: number;
  sequence: number;
  at: Date;
}

/** How long a revoked reader is kept. */
export const endedReaderDays = 30;

export interface TillCollections {
  readers: ReaderRow;
  taps: TapRow;
}

export const tillIndexes: IndexesOf<TillCollections> = {
  readers: [
    { key: { merchantId: 1, createdAt: -1 }, reason: 'the list' },
    { key: { tokenHash: 1 }, unique: true, sparse: true, reason: 'authentication' },
    { key: { 'code.hash': 1 }, unique: true, sparse: true, reason: 'pairing' },
    { key: { revokedAt: 1 }, expireAfterSeconds: days(endedReaderDays), reason: 'a merchant has a bounded number' },
  ],
  taps: [
    { key: { readerId: 1, sequence: 1 }, reason: 'the taps that are not counted yet' },
    { key: { at: 1 }, expireAfterSeconds: days(400), reason: 'the reader of a tap may be gone' },
  ],
};
