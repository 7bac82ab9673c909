// One change of one member to its Google object, which only a customer who saved it can see. The message is Google's own
// kind of notice, within its daily budget.

import type { MemberRow } from '../../schemas/collections.js';
import type { Config } from '../../schemas/config.js';
import { makeGoogleClassId, makeGoogleObjectId } from '../../schemas/googleIds.js';
import type { Program } from '../../schemas/programs.js';
import { GoogleWalletError } from '../google/googleWalletError.js';
import { googleFaceOf, googleProgramOf } from './faces.js';
import type { GoogleWalletAt } from './wallets.js';

export interface GooglePush {
  objectPatched: boolean;
  answer: 'patched' | GoogleWalletError['kind'];
  /** True when Google has to be asked again. */
  unreached: boolean;
  detail: string;
}

interface Pair {
  member: MemberRow;
  program: Program;
}

export async function pushGoogle(
  google: GoogleWalletAt,
  { member, program, message, again }: Pair & { message: { id: string; body: string } | undefined; again: boolean },
): Promise<GooglePush> {
  const objectId = makeGoogleObjectId(google.credentials.issuerId, member._id);
  try {
    await google.wallet.patchObject(googleFaceOf({ member, program }), { notify: message === undefined });
    const sent = message
      ? await google.wallet.addMessage(
          objectId,
          { id: message.id, header: program.name, body: message.body },
          { checkFirst: again },
        )
      : undefined;
    return { objectPatched: true, answer: 'patched', unreached: false, detail: sent ? `message ${sent.outcome}` : '' };
  } catch (error) {
    if (!(error instanceof GoogleWalletError)) throw error;
    const unreached = error.kind === 'transient' || error.kind === 'quota';
    return { objectPatched: false, answer: error.kind, unreached, detail: `${error.kind}: ${error.reason}` };
  }
}

/** The program's class and the member's object at Google, and the link by which the member saves it. Throws GoogleWalletError. */
export async function issueGoogle(
  google: GoogleWalletAt,
  { config, pairs }: { config: Config; pairs: readonly Pair[] },
): Promise<Map<string, string>> {
  const { issuerId } = google.credentials;
  const programs = new Map(pairs.map(({ program }) => [program._id, program]));
  for (const program of programs.values()) await google.wallet.upsertClass(googleProgramOf(config, program));
  const [only, ...others] = pairs;
  if (only && others.length === 0) {
    await google.wallet.insertObject(googleFaceOf(only));
  } else {
    const outcomes = await google.wallet.batchInsert(pairs.map(googleFaceOf));
    const failed = outcomes.find((outcome) => outcome.outcome === 'failed');
    if (failed?.outcome === 'failed') throw failed.error;
  }
  const urls = new Map<string, string>();
  for (const { member, program } of pairs) {
    const objectId = makeGoogleObjectId(issuerId, member._id);
    urls.set(member._id, await google.wallet.saveUrl(objectId, makeGoogleClassId(issuerId, program._id)));
  }
  return urls;
}
