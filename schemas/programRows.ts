// The rows of programs besides their live version, which is in `programs` (docs/decisions/075-drafts-and-versions.md).
import type { Actor } from './members.js';
import type { Program } from './programs.js';

/** What a version of a program holds: all fields of the program file but id, merchant and `archived`. */
export type ProgramContent = Omit<Program, '_id' | 'merchantId' | 'archived' | 'version'>;

/**
 * The edits of a program; the id is the program's. Each edit and each publication raises `version`, and their write
 * compares it. A program that was never published has no row in `programs`.
 */
export interface ProgramDraftRow {
  _id: string;
  merchantId: string;
  version: number;
  /** Absent while nothing differs from the live version. */
  content?: ProgramContent;
  /** Bytes of the different images of the newest edit and of the live version. */
  imageBytes: number;
  published?: true;
  /** Only of a program that was never published. */
  archived?: boolean;
  createdAt: Date;
  updatedAt: Date;
  updatedBy: Actor;
}

/** A version that was published; the id is `<programId>:<version>`. */
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
}

/**
 * The program that has a slug; the id is the slug. The row is moved or removed with the publication that gives the slug
 * up. A unique index would not do: see `EmailRow`.
 */
export interface SlugRow {
  _id: string;
  merchantId: string;
  programId: string;
}

export const programVersionId = (programId: string, version: number | string): string => `${programId}:${version}`;
