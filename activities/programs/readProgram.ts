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

/** Returns the program from a cache; it is at most one second old. Throws PROGRAM_NOT_FOUND. */
export async function cachedProgram(deps: Deps, at: { merchantId: string; programId: string }): Promise<Program> {
  const program = await deps.cached(`program:${at.merchantId}:${at.programId}`, () => readProgram(deps, at));
  if (!program) throw new ServiceError('PROGRAM_NOT_FOUND');
  return program;
}
