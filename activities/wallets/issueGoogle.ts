// The program's class and the members' objects at Google, and the links by which members save them.
import type { MemberRow } from '../../schemas/collections.js';
import type { Config } from '../../schemas/config.js';
import { makeGoogleClassId, makeGoogleObjectId } from '../../schemas/googleIds.js';
import type { Program } from '../../schemas/programs.js';
import { GoogleWalletError } from '../google/googleWalletError.js';
import { googleFaceOf, googleProgramOf } from './faces.js';
import type { Made } from './recordIssued.js';
import type { GoogleWalletAt } from './wallets.js';

interface Pair {
  member: MemberRow;
  program: Program;
}

/** A link or what Google said against it, by member id. */
export async function issueGoogle(
  google: GoogleWalletAt,
  { config, pairs }: { config: Config; pairs: readonly Pair[] },
): Promise<Map<string, Made>> {
  const { issuerId } = google.credentials;
  const classes = await keepClasses(google, { config, pairs });
  const refusals = await insertAll(
    google,
    pairs.filter(({ program }) => !classes.has(program._id)),
  );
  // A class that was kept once is not looked at again for a while, and may have vanished since.
  if ([...refusals.values()].some(({ kind }) => kind === 'not_found')) google.forgetClasses();
  const made = new Map<string, Made>();
  for (const { member, program } of pairs) {
    const refusal = classes.get(program._id) ?? refusals.get(member._id);
    const ids = [makeGoogleObjectId(issuerId, member._id), makeGoogleClassId(issuerId, program._id)] as const;
    made.set(member._id, refusal ?? { saveUrl: await google.wallet.saveUrl(...ids) });
  }
  return made;
}

/** The programs whose class Google did not take. */
async function keepClasses(
  google: GoogleWalletAt,
  { config, pairs }: { config: Config; pairs: readonly Pair[] },
): Promise<Map<string, GoogleWalletError>> {
  const refused = new Map<string, GoogleWalletError>();
  for (const program of new Map(pairs.map(({ program }) => [program._id, program])).values()) {
    const refusal = await refusalOf(google.keepClass(googleProgramOf(config, program)));
    if (refusal) refused.set(program._id, refusal);
  }
  return refused;
}

/** The members whose object Google did not take. */
async function insertAll({ wallet }: GoogleWalletAt, pairs: readonly Pair[]): Promise<Map<string, GoogleWalletError>> {
  const [only, ...others] = pairs;
  if (only && others.length === 0) {
    const refusal = await refusalOf(wallet.insertObject(googleFaceOf(only)));
    return new Map(refusal ? [[only.member._id, refusal]] : []);
  }
  const outcomes = await wallet.batchInsert(pairs.map(googleFaceOf));
  return new Map(
    outcomes.flatMap((outcome) => (outcome.outcome === 'failed' ? [[outcome.memberId, outcome.error]] : [])),
  );
}

async function refusalOf(asked: Promise<unknown>): Promise<GoogleWalletError | null> {
  try {
    await asked;
    return null;
  } catch (error) {
    if (error instanceof GoogleWalletError) return error;
    throw error;
  }
}
