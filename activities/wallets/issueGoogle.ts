// The program's class and the members' objects at Google, and the links by which members save them.
import type { MemberRow } from '../../schemas/collections.js';
import type { Config } from '../../schemas/config.js';
import { makeGoogleClassId, makeGoogleObjectId } from '../../schemas/googleIds.js';
import type { Program } from '../../schemas/programs.js';
import { GoogleWalletError } from '../google/googleWalletError.js';
import { googleFaceOf, googleProgramOf } from './faces.js';
import type { GoogleWalletAt } from './wallets.js';

interface Pair {
  member: MemberRow;
  program: Program;
}

/** Links by member id. Throws GoogleWalletError. */
export async function issueGoogle(
  google: GoogleWalletAt,
  { config, pairs }: { config: Config; pairs: readonly Pair[] },
): Promise<Map<string, string>> {
  const { issuerId } = google.credentials;
  const programs = new Map(pairs.map(({ program }) => [program._id, program]));
  for (const program of programs.values()) await google.keepClass(googleProgramOf(config, program));
  try {
    await insertAll(google, pairs);
  } catch (error) {
    // A class that was kept once is not looked at again for a while, and may have vanished since.
    if (error instanceof GoogleWalletError && error.kind === 'not_found') google.forgetClasses();
    throw error;
  }
  const urls = new Map<string, string>();
  for (const { member, program } of pairs) {
    const objectId = makeGoogleObjectId(issuerId, member._id);
    urls.set(member._id, await google.wallet.saveUrl(objectId, makeGoogleClassId(issuerId, program._id)));
  }
  return urls;
}

async function insertAll({ wallet }: GoogleWalletAt, pairs: readonly Pair[]): Promise<void> {
  const [only, ...others] = pairs;
  if (only && others.length === 0) {
    await wallet.insertObject(googleFaceOf(only));
    return;
  }
  const outcomes = await wallet.batchInsert(pairs.map(googleFaceOf));
  const failed = outcomes.find((outcome) => outcome.outcome === 'failed');
  if (failed?.outcome === 'failed') throw failed.error;
}
