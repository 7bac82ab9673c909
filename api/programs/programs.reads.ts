// Reads of programs for the API: the list of a merchant, and the program of a public page.

import { suspensions } from '../../activities/access/merchants.reads.js';
import { withExpiry } from '../../activities/programs/expirySince.writes.js';
import { programKeyOf } from '../../activities/programs/program.reads.js';
import type { Deps } from '../../platform/deps.js';
import { type Program, versionOf } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { Caller } from '../http/caller.reads.js';

/**
 * Reads the program of a public page without a cache; a slug that it has given up finds it too. Throws
 * PROGRAM_NOT_FOUND when the program does not take members from the public or its merchant is suspended, unless it is
 * archived: enrolling into an archived program throws PROGRAM_ARCHIVED.
 */
export async function readPublicProgram(deps: Deps, at: { slug: string }): Promise<Program> {
  const owner = await deps.collections.slugs.findOne({ _id: at.slug });
  const program = owner && (await deps.read.program({ _id: owner.programId, merchantId: owner.merchantId }));
  if (!program || !(await hasPage(deps, program))) throw new ServiceError('PROGRAM_NOT_FOUND');
  return withExpiry(deps, program);
}

/** An archived program still has its page, for cards that are lost. */
export async function hasPage(
  deps: Deps,
  { archived, enrollment, merchantId }: Pick<Program, 'archived' | 'enrollment' | 'merchantId'>,
): Promise<boolean> {
  return (archived || enrollment.open) && !(await suspensions(deps)).has(merchantId);
}

/** The same from a cache that is at most one second old, because anybody may request the page. */
export async function cachedPublicProgram(deps: Deps, at: { slug: string }): Promise<Program> {
  const program = await deps.cached(`public:${at.slug}`, () => readPublicProgram(deps, at));
  if (!program) throw new ServiceError('PROGRAM_NOT_FOUND');
  return program;
}

type Listed = Omit<Program, 'passTemplate'>;

/** Without the templates, whose images are large. */
export async function listPrograms(deps: Deps, at: { merchantId: string }): Promise<Listed[]> {
  return deps.collections.programs
    .find({ merchantId: at.merchantId }, { projection: { passTemplate: 0 } })
    .sort({ _id: 1 })
    .toArray();
}

/** The same for editors: with programs that were never published, and with the version of the newest edit. */
export async function listEdited(deps: Deps, { merchantId }: { merchantId: string }): Promise<Listed[]> {
  const [live, drafts] = await Promise.all([
    listPrograms(deps, { merchantId }),
    deps.collections.programDrafts
      .find({ merchantId }, { projection: { 'content.passTemplate': 0 } })
      .sort({ _id: 1 })
      .toArray(),
  ]);
  const versions = new Map(drafts.map(({ _id, version }) => [_id, version]));
  const published = new Set(live.map(({ _id }) => _id));
  const unpublished = drafts.flatMap(({ _id, content, archived = false, version }) =>
    content && !published.has(_id) ? [{ _id, merchantId, ...content, archived, version }] : [],
  );
  const edited = live.map((program) => ({ ...program, version: versions.get(program._id) ?? versionOf(program) }));
  return [...edited, ...unpublished];
}

/** The program that the path of a request names. */
export async function programAt(
  deps: Deps,
  { merchantId }: Pick<Caller, 'merchantId'>,
  { id = '' }: Record<string, string>,
) {
  return { merchantId, programId: await programKeyOf(deps, { merchantId, programId: id }) };
}
