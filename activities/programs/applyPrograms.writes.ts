// Edits and publishes programs in one step, for operators with program files.
import { isDeepStrictEqual } from 'node:util';
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import type { Actor } from '../../schemas/access/actor.schema.js';
import { type Program, versionOf } from '../../schemas/programs/programs.schema.js';
import { requireStyle } from './checkContent.rules.js';
import { contentOf, headOf, type ProgramHead } from './programHead.reads.js';
import { commitPublications, type Publication, type Published } from './publishPrograms.writes.js';

/**
 * Publishes all the given programs or changes nothing. A program that is live with the same content gets no new
 * version and is not in the result. An unpublished edit is replaced. The caller starts the rebuilds. Throws
 * PROGRAM_IN_USE, SLUG_TAKEN, VALIDATION_FAILED.
 */
export function applyPrograms(
  deps: Deps,
  { programs, actor }: { programs: readonly Program[]; actor: Actor },
): Promise<Published[]> {
  return retryOnConflict(deps, async () => {
    const heads = await readHeads(deps, programs);
    const publications = programs.map((program) => publicationOf(program, heads.get(program._id)));
    for (const { head, content } of publications) await requireStyle(deps, head, content);
    return commitPublications(deps, { publications, actor, isLimited: false });
  });
}

function publicationOf(program: Program, head: ProgramHead | undefined): Publication {
  const content = contentOf(program);
  const { _id: programId, merchantId, archived } = program;
  if (!head) {
    const none = { programId, merchantId, live: null, draft: null, version: 1, content, archived };
    return { head: none, content, version: 1, archived };
  }
  const isLive = head.live && isDeepStrictEqual(content, contentOf(head.live));
  return { head, content, version: isLive ? versionOf(head.live ?? program) : head.version + 1, archived };
}

/** The heads of the existing programs, by id. */
export async function readHeads(
  { collections }: Pick<Deps, 'collections'>,
  programs: readonly Pick<Program, '_id'>[],
): Promise<Map<string, ProgramHead>> {
  const where = { _id: { $in: programs.map(({ _id }) => _id) } };
  const drafts = new Map((await collections.programDrafts.find(where).toArray()).map((row) => [row._id, row]));
  const live = new Map((await collections.programs.find(where).toArray()).map((row) => [row._id, row]));
  return new Map(
    [...new Set([...drafts.keys(), ...live.keys()])].flatMap((programId) => {
      const [its, edit] = [live.get(programId) ?? null, drafts.get(programId) ?? null];
      const head = headOf({ programId, merchantId: its?.merchantId ?? edit?.merchantId ?? '' }, its, edit);
      return head ? [[programId, head] as const] : [];
    }),
  );
}
