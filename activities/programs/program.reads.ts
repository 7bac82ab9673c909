// Reads programs, always within the caller's merchant.
import type { Deps } from '../../platform/deps.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { chosenProgramKey, programIdOf } from '../../schemas/shared/ids.js';
import { withExpiry } from './expirySince.writes.js';
import type { ProgramAt } from './programHead.reads.js';

/** The key of the merchant's program with this id, for which all rows about it ask; undefined where there is none. */
export async function findProgramKey(deps: Deps, { merchantId, programId }: ProgramAt): Promise<string | undefined> {
  const { programs, programDrafts } = deps.collections;
  const found = await deps.cached(`programKey:${merchantId}:${programId}`, async () => {
    const where = { _id: { $in: [programId, chosenProgramKey(merchantId, programId)] }, merchantId };
    const idOnly = { projection: { _id: 1 } };
    const rows = await Promise.all([programs.findOne(where, idOnly), programDrafts.findOne(where, idOnly)]);
    // A caller may send anything, the key itself too.
    return rows.find((row) => row !== null && programIdOf(row._id) === programId) ?? null;
  });
  return found?._id;
}

/** The same, with a key that no program has for an id that no program of the merchant has. */
export const programKeyOf = async (deps: Deps, at: ProgramAt): Promise<string> =>
  (await findProgramKey(deps, at)) ?? chosenProgramKey(at.merchantId, at.programId);

/** Undefined stands for all programs. */
export const programKeyIn = async (
  deps: Deps,
  { merchantId, programId }: { merchantId: string; programId?: string | undefined },
): Promise<string | undefined> => (programId === undefined ? undefined : programKeyOf(deps, { merchantId, programId }));

/** Reads the current program. Throws PROGRAM_NOT_FOUND. */
export async function readProgram(deps: Deps, at: { merchantId: string; programId: string }): Promise<Program> {
  const program = await deps.read.program({ _id: at.programId, merchantId: at.merchantId });
  if (!program) throw new ServiceError('PROGRAM_NOT_FOUND');
  return withExpiry(deps, program);
}

/** Removes a changed program, or a slug that it has or had, from the caches of this process. */
export function forgetProgram(
  { cached }: Deps,
  { merchantId, programId, live }: { merchantId: string; programId: string; live: Pick<Program, 'slug'> | null },
  slug: string,
): void {
  const slugs = new Set([slug, live?.slug ?? slug]);
  cached.forget(
    `program:${merchantId}:${programId}`,
    `pictures:${programId}`,
    ...[...slugs].map((one) => `public:${one}`),
  );
}

/** Returns the program from a cache that is at most one second old. Throws PROGRAM_NOT_FOUND. */
export async function cachedProgram(deps: Deps, at: { merchantId: string; programId: string }): Promise<Program> {
  const program = await deps.cached(`program:${at.merchantId}:${at.programId}`, () => readProgram(deps, at));
  if (!program) throw new ServiceError('PROGRAM_NOT_FOUND');
  return program;
}
