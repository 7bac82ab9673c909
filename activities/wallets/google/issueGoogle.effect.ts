// Creates the program's class and the members' objects at Google, and the links by which members save them.

import type { MemberRow } from '../../../schemas/members/members.rows.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import type { Config } from '../../../schemas/shared/config.schema.js';
import { makeGoogleClassId, makeGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import { googlePassView, googleProgramView } from '../../../schemas/wallets/passes.view.js';
import type { IssueResult } from '../recordIssued.writes.js';
import type { GoogleWallet } from '../wallets.client.js';
import { GoogleWalletError } from './googleWalletError.rules.js';

interface Pair {
  member: MemberRow;
  program: Program;
}

/** Returns for each member id the save link, or the error with which Google refused. */
export async function issueGoogle(
  google: GoogleWallet,
  { config, pairs }: { config: Config; pairs: readonly Pair[] },
): Promise<Map<string, IssueResult>> {
  const { issuerId } = google.credentials;
  const classes = await ensureClasses(google, { config, pairs });
  const refusals = await insertAll(
    google,
    pairs.filter(({ program }) => !classes.has(program._id)),
  );
  // ensureClass skips a class that it checked within the last 10 minutes. The class may have been deleted since.
  if ([...refusals.values()].some(({ kind }) => kind === 'not_found')) google.clearClassCache();
  const made = new Map<string, IssueResult>();
  for (const { member, program } of pairs) {
    const refusal = classes.get(program._id) ?? refusals.get(member._id);
    const ids = [makeGoogleObjectId(issuerId, member._id), makeGoogleClassId(issuerId, program._id)] as const;
    made.set(member._id, refusal ?? { saveUrl: await google.api.saveUrl(...ids) });
  }
  return made;
}

/** Returns the programs whose class Google refused, with the error. */
async function ensureClasses(
  google: GoogleWallet,
  { config, pairs }: { config: Config; pairs: readonly Pair[] },
): Promise<Map<string, GoogleWalletError>> {
  const refused = new Map<string, GoogleWalletError>();
  for (const program of new Map(pairs.map(({ program }) => [program._id, program])).values()) {
    const refusal = await refusalOf(google.ensureClass(googleProgramView(config, program)));
    if (refusal) refused.set(program._id, refusal);
  }
  return refused;
}

/** Returns the members whose object Google refused, with the error. */
async function insertAll({ api }: GoogleWallet, pairs: readonly Pair[]): Promise<Map<string, GoogleWalletError>> {
  const [only, ...others] = pairs;
  if (only && others.length === 0) {
    const refusal = await refusalOf(api.insertObject(googlePassView(only)));
    return new Map(refusal ? [[only.member._id, refusal]] : []);
  }
  const outcomes = await api.batchInsert(pairs.map(googlePassView));
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
