// The rows of programs in addition to their live version, which is in `programs`
// (docs/decisions/drafts-and-versions-are-rows.md).
import type { Actor } from '../access/actor.schema.js';
import type { AuditChange } from '../access/audit.schema.js';
import type { IndexesOf } from '../shared/indexes.js';
import type { Program } from './programs.schema.js';

export type ProgramRow = Omit<Program, 'expirySince'>;

/** The content of a version of a program: all fields of the program file except id, merchant and `archived`. */
export type ProgramContent = Omit<Program, '_id' | 'merchantId' | 'archived' | 'version'>;

/**
 * The edits of a program; the id is that of the program. Each edit and each publication increments `version`, and its
 * write compares it. A program that was never published has no row in `programs`.
 */
export interface ProgramDraftRow {
  _id: string;
  merchantId: string;
  version: number;
  /** Absent while the live version is the newest edit. */
  content?: ProgramContent;
  /** Bytes of the different images of the newest edit and of the live version. */
  imageBytes: number;
  published?: true;
  /** Only on a program that was never published. */
  archived?: boolean;
  createdAt: Date;
  updatedAt: Date;
  updatedBy: Actor;
}

/** A published version; the id is `<programId>:<version>`. */
export interface ProgramVersionRow {
  _id: string;
  merchantId: string;
  programId: string;
  version: number;
  content: ProgramContent;
  /** Bytes of its images. */
  imageBytes?: number;
  /** Absent on a version that was written before programs had versions. */
  publishedAt?: Date;
  publishedBy?: Actor;
  /** From the version that was live before. */
  changes?: AuditChange[];
}

/**
 * The program of a slug; the id is the slug. A slug that a program has given up leads to its present one until another
 * program takes it. A unique index does not work: see `EmailRow`.
 */
export interface SlugRow {
  _id: string;
  merchantId: string;
  programId: string;
  /** Since when the program has another slug, and any program may take this one. */
  givenUpAt?: Date;
}

export const programVersionId = (programId: string, version: number | string): string => `${programId}:${version}`;

export interface ProgramCollections {
  programs: ProgramRow;
  programDrafts: ProgramDraftRow;
  programVersions: ProgramVersionRow;
  slugs: SlugRow;
}

export const programIndexes: IndexesOf<ProgramCollections> = {
  programs: [
    { key: { merchantId: 1, _id: 1 }, reason: 'the list of a merchant' },
    { key: { expiry: 1 }, sparse: true, reason: 'programs with an expiry rule, read every minute' },
  ],
  programDrafts: [{ key: { merchantId: 1, _id: 1 }, reason: 'the list of a merchant' }],
  programVersions: [{ key: { programId: 1, version: -1 }, reason: 'the versions of a program, newest first' }],
  slugs: [],
};
