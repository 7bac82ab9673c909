// The head of a program: its live version and its newest edit.
import type { Deps } from '../../platform/deps.js';
import type { ProgramContent, ProgramDraftRow } from '../../schemas/programs/programs.rows.js';
import { type Program, versionOf } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';

export interface ProgramAt {
  merchantId: string;
  programId: string;
}

export interface ProgramHead extends ProgramAt {
  /** Null for a program that was never published. */
  live: Program | null;
  /** Null for a program that was not edited since drafts exist. */
  draft: ProgramDraftRow | null;
  version: number;
  content: ProgramContent;
  archived: boolean;
}

export function contentOf({ _id, merchantId, archived, version, ...content }: Program): ProgramContent {
  return content;
}

/** Undefined when there is neither a live version nor a draft. */
export function headOf(at: ProgramAt, live: Program | null, draft: ProgramDraftRow | null): ProgramHead | undefined {
  const content = draft?.content ?? (live && contentOf(live));
  if (!content) return undefined;
  const version = draft?.version ?? (live ? versionOf(live) : 1);
  return { ...at, live, draft, version, content, archived: live?.archived ?? draft?.archived ?? false };
}

/** Throws PROGRAM_NOT_FOUND. */
export async function readHead(deps: Deps, at: ProgramAt): Promise<ProgramHead> {
  const { programs, programDrafts } = deps.collections;
  const where = { _id: at.programId, merchantId: at.merchantId };
  // Writes compare the versions of both rows, so they fail when the rows were read at different moments.
  const [draft, live] = await Promise.all([programDrafts.findOne(where), programs.findOne(where)]);
  const head = headOf(at, live, draft);
  if (!head) throw new ServiceError('PROGRAM_NOT_FOUND');
  return head;
}

/** Throws VERSION_CONFLICT when the caller has read another edit than the newest. */
export function requireVersion(head: ProgramHead, version: number | undefined): void {
  if (version !== undefined && version !== head.version)
    throw new ServiceError('VERSION_CONFLICT', { version: head.version });
}
