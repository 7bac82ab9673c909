// Reads of programs for the API: the list of a merchant, and the program of a public page.

import { suspensions } from '../../activities/access/merchants.js';
import { withExpiry } from '../../activities/programs/expirySince.js';
import type { Deps } from '../../platform/deps.js';
import { ServiceError } from '../../schemas/errors.js';
import type { Program } from '../../schemas/programs.js';

/**
 * The program of a public page, read without a cache. Throws PROGRAM_NOT_FOUND when the program does not take members
 * from the public or its merchant is suspended, unless it is archived: enrolling into an archived program throws PROGRAM_ARCHIVED.
 */
export async function readPublicProgram(deps: Deps, at: { slug: string }): Promise<Program> {
  const program = await deps.collections.programs.findOne({ slug: at.slug });
  if (!program || !(program.archived || program.enrollment.open)) throw new ServiceError('PROGRAM_NOT_FOUND');
  if ((await suspensions(deps)).has(program.merchantId)) throw new ServiceError('PROGRAM_NOT_FOUND');
  return withExpiry(deps, program);
}

/** The same, at most one second old: anybody may ask for the page. */
export async function cachedPublicProgram(deps: Deps, at: { slug: string }): Promise<Program> {
  const program = await deps.cached(`public:${at.slug}`, () => readPublicProgram(deps, at));
  if (!program) throw new ServiceError('PROGRAM_NOT_FOUND');
  return program;
}

/** Without the templates, whose images are large. */
export async function listPrograms(deps: Deps, at: { merchantId: string }): Promise<Omit<Program, 'passTemplate'>[]> {
  return deps.collections.programs
    .find({ merchantId: at.merchantId }, { projection: { passTemplate: 0 } })
    .sort({ _id: 1 })
    .toArray();
}
