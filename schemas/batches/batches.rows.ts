// The rows of batches, and their indexes.

import type { Actor } from '../access/actor.schema.js';
import type { Audience, AutomaticAudience } from '../members/audiences.rules.js';
import type { Person } from '../members/members.schema.js';
import type { Stored } from '../shared/answers.js';
import type { Delimiter } from '../shared/csv.rules.js';
import type { IndexesOf } from '../shared/indexes.js';
import type { batch, importRow } from './batches.schema.js';
import type { ImportField } from './columnTitles.rules.js';
import type { RowMistake } from './importMistakes.rules.js';

/** What an answer about a batch computes, or has in another form. */
type Computed = 'percent' | 'ratePerSecond' | 'mapping' | 'repairedBy' | 'cancelRequested' | 'cardMails';

export interface BatchRow extends Omit<Stored<typeof batch, 'finishedAt'>, Computed> {
  merchantId: string;
  subscriptionId?: string;
  done: number;
  phaseStartedAt?: Date;
  cancelRequestedAt?: Date;
  /** Only on an import whose file had such columns: pairs, because a header may contain any characters. */
  mapping?: (readonly [header: string, field: ImportField | null])[];
  /** The number of chunks of an import's rows or of another batch's targets, once all of them are stored. */
  chunks?: number;
  campaign?: { message: string; tags: string[]; audience?: Audience };
  replay?: { since: Date; until: Date; only: 'failed' | 'all' };
  /**
   * Only on an import: the merchant's own columns of the header; the delimiter of the file; whether a caller waits
   * for the outcomes; and, until it is queued, when its upload was last active, by the clock of MongoDB.
   */
  header?: string[];
  delimiter?: Delimiter;
  awaited?: true;
  uploadSeenAt?: Date;
  /** Only on an import: how many cells its rows lack because they cannot be read. */
  leftOut?: number;
  /** Only on an import: created members whose passes were issued and whose events were published. */
  completedMembers?: number;
  /** Set when the batch ends: when its rows are removed. Absent after that (activities/batches/removeRows.writes.ts). */
  rowsUntil?: Date;
  /** Only on a finished import that still has passes to issue. */
  unissued?: true;
}

/**
 * The rule of an automatic message; the id is `<programId>:<audience>`. Each change of it and each day increments
 * `version`, and its write compares it.
 */
export interface AutomaticMessageRow {
  _id: string;
  merchantId: string;
  programId: string;
  audience: AutomaticAudience;
  on: boolean;
  message?: string;
  hour: number;
  version: number;
  /** While it is on: when it is to be looked at next, at its hour. */
  dueAt?: Date;
  /** The newest calendar day that it was looked at for. */
  lastDay?: string;
  /** When its workflow counts as lost, or as one that did not learn of a change. */
  checkAt?: Date;
  updatedAt: Date;
  updatedBy: Actor;
}

/** One row of an import's file, parsed but not yet processed. */
export interface ImportRow {
  row: number;
  /** As in `ImportLine`. */
  line: number;
  /** The merchant's own cells, for errors.csv and known.csv. */
  cells: string[];
  person?: Person;
  /** Why the row fails; a row has either a reason or a person. */
  reason?: string;
  /** The cell that the person lacks because it cannot be read, and why. */
  leftOut?: string;
  /** What either of them is about. */
  mistakes?: RowMistake[];
}

/** The outcome of a row, decided once. */
export interface ImportRowOutcome extends Omit<Stored<typeof importRow>, 'line' | 'leftOut'> {
  eventId?: string;
  /** What the reason is about. */
  mistakes?: RowMistake[];
}

/** A chunk: rows of an import and their outcomes, in one document so that the outcomes are one write. */
export interface ImportChunkRow {
  _id: string;
  batchId: string;
  merchantId: string;
  chunk: number;
  rows: ImportRow[];
  outcomes?: ImportRowOutcome[];
  /** Until the rows are decided: the numbers of those that hold a value of an erased member. */
  ofErased?: number[];
  /** What the rows about a person are found by (schemas/batches/importMarks.rules.ts). */
  marks?: string[];
  /** Written with the outcomes: how many rows had each outcome, from the start of the file to the end of this chunk. */
  cumulative?: Record<ImportRowOutcome['outcome'], number>;
  /** Written with the outcomes: how many of the members created so far have an email. */
  cumulativeWithEmail?: number;
  /** How many members of these rows got a pass on each wallet; set once their events are published. */
  passCounts?: { apple: number; google: number };
}

/** A chunk of the target ids of a batch, and whether its outcomes are in the counts of the batch. */
export interface BatchTargetsRow {
  /** `<batchId>:<chunk>` */
  _id: string;
  batchId: string;
  merchantId: string;
  chunk: number;
  ids: string[];
  /** The number of targets from the start of the list to the end of this chunk. */
  upTo: number;
  /** The position of the last target; the next chunk continues from it. */
  last: Position;
  counted?: true;
  /** Members counted as failed. One that is notified later is removed from this list, and the counts are corrected. */
  failedIds?: string[];
}

/**
 * The position of a target in the list: members are sorted by `createdAt`, events by `occurredAt`, ties by id; those of
 * an import by its chunks, whose number is `at` in milliseconds.
 */
export interface Position {
  at: Date;
  id: string;
}

export interface BatchCollections {
  batches: BatchRow;
  importChunks: ImportChunkRow;
  batchTargets: BatchTargetsRow;
  automaticMessages: AutomaticMessageRow;
}

export const batchIndexes: IndexesOf<BatchCollections> = {
  batches: [
    { key: { merchantId: 1, startedAt: -1, _id: -1 }, reason: 'the list, newest first' },
    { key: { merchantId: 1, phase: 1 }, reason: 'the unfinished batches of a merchant, and their waiting rows' },
    { key: { merchantId: 1, kind: 1, startedAt: -1, _id: -1 }, reason: 'the list of one kind; the campaigns of a day' },
    { key: { phase: 1, startedAt: 1 }, reason: 'unfinished batches, to find lost workflows' },
    { key: { merchantId: 1, sendAt: 1 }, sparse: true, reason: 'the planned campaigns of a day' },
    { key: { phase: 1, sendAt: 1 }, reason: 'campaigns whose time has come, to find lost workflows' },
    { key: { rowsUntil: 1 }, sparse: true, reason: 'batches whose rows are to be removed' },
    { key: { unissued: 1 }, sparse: true, reason: 'finished imports that still have passes to issue' },
    { key: { repairs: 1 }, sparse: true, reason: 'the imports that repaired another' },
    { key: { mailsCardsOf: 1 }, sparse: true, reason: 'the mails to the people of an import' },
  ],
  importChunks: [
    { key: { batchId: 1, chunk: 1 }, unique: true, reason: 'the chunks of a batch in their order, each stored once' },
    { key: { marks: 1 }, sparse: true, reason: 'the rows about a person, for its export and erasure' },
  ],
  batchTargets: [
    { key: { batchId: 1, chunk: 1 }, unique: true, reason: 'the chunks of a batch in their order, each stored once' },
    { key: { ids: 1 }, reason: 'the lists that a member is in, for its export and erasure' },
  ],
  automaticMessages: [
    { key: { merchantId: 1 }, reason: 'the export and the removal of a merchant' },
    { key: { checkAt: 1 }, sparse: true, reason: 'rules whose workflow may be lost' },
  ],
};
