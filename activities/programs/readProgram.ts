// Reads programs, always within the caller's merchant.
import type { Deps } from '../../platform/deps.js';
import { ServiceError } from '../../schemas/errors.js';
import type { Program } from '../../schemas/programs.js';
import { withExpiry } from './expirySince.js';

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
