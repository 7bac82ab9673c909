// Reading programs, always within the caller's merchant.
import { ServiceError } from '../schemas/errors.js';
import type { Program } from '../schemas/programs.js';
import type { Store } from './deps.js';

/** As it is now. Throws PROGRAM_NOT_FOUND. */
export async function readProgram(store: Store, at: { merchantId: string; programId: string }): Promise<Program> {
  const program = await store.read.program({ _id: at.programId, merchantId: at.merchantId });
  if (!program) throw new ServiceError('PROGRAM_NOT_FOUND');
  return program;
}

/**
 * The program of a public page, as it is now. One that does not take members from the public is unknown to it: throws
 * PROGRAM_NOT_FOUND. An archived one is not: enrolling into it throws PROGRAM_ARCHIVED.
 */
export async function readPublicProgram(store: Store, at: { slug: string }): Promise<Program> {
  const program = await store.rows.programs.findOne({ slug: at.slug });
  if (!program || !(program.archived || program.enrollment.open)) throw new ServiceError('PROGRAM_NOT_FOUND');
  return program;
}

/** As it was within the last second. Throws PROGRAM_NOT_FOUND. */
export async function recentProgram(store: Store, at: { merchantId: string; programId: string }): Promise<Program> {
  const program = await store.recent(`program:${at.merchantId}:${at.programId}`, () => readProgram(store, at));
  if (!program) throw new ServiceError('PROGRAM_NOT_FOUND');
  return program;
}

export async function listPrograms(store: Store, at: { merchantId: string }): Promise<Program[]> {
  return store.rows.programs.find({ merchantId: at.merchantId }).sort({ _id: 1 }).toArray();
}
