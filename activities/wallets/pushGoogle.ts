// One change of one member to its Google object, which only a customer who saved it can see. The message is Google's own
// kind of notice, within its daily budget.
import type { MemberRow } from '../../schemas/collections.js';
import { makeGoogleObjectId } from '../../schemas/googleIds.js';
import type { Program } from '../../schemas/programs.js';
import { GoogleWalletError } from '../google/googleWalletError.js';
import { googleFaceOf } from './faces.js';
import type { GoogleWalletAt } from './wallets.js';

export interface GooglePush {
  objectPatched: boolean;
  answer: 'patched' | GoogleWalletError['kind'];
  /** True when Google has to be asked again. */
  unreached: boolean;
  detail: string;
}

export interface PushGoogle {
  member: MemberRow;
  program: Program;
  /** The member as it is at that moment. */
  readAgain: () => Promise<MemberRow | null>;
  message: { id: string; body: string } | undefined;
  /** Whether Google itself says that the points changed; a message of ours says more. */
  notify: boolean;
  /** A second attempt, which must not say the same twice. */
  again: boolean;
  /** Nobody waits longer than this; what is asked of Google by then may still happen. */
  withinMs: number;
}

export async function pushGoogle(google: GoogleWalletAt, push: PushGoogle): Promise<GooglePush> {
  const patience = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<GooglePush>((resolve) => {
    timer = setTimeout(() => {
      patience.abort();
      resolve({ objectPatched: false, answer: 'transient', unreached: true, detail: 'no answer in time' });
    }, push.withinMs);
  });
  try {
    return await Promise.race([patchAndSay(google, push, patience.signal), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

async function patchAndSay(google: GoogleWalletAt, push: PushGoogle, given: AbortSignal): Promise<GooglePush> {
  const { member, program, message, notify, again } = push;
  let objectPatched = false;
  try {
    await google.wallet.patchObject(googleFaceOf({ member, program }), { notify: notify && message === undefined });
    objectPatched = true;
    await patchWhatCameBetween(google, push);
    // Given up here, the message is the next attempt's to send; sent by both it would be read twice.
    if (!message || given.aborted) return { objectPatched, answer: 'patched', unreached: false, detail: '' };
    const objectId = makeGoogleObjectId(google.credentials.issuerId, member._id);
    const { outcome } = await google.wallet.addMessage(
      objectId,
      { id: message.id, header: program.name, body: message.body },
      { checkFirst: again },
    );
    return { objectPatched, answer: 'patched', unreached: false, detail: `message ${outcome}` };
  } catch (error) {
    if (!(error instanceof GoogleWalletError)) throw error;
    const unreached = error.kind === 'transient' || error.kind === 'quota';
    return { objectPatched, answer: error.kind, unreached, detail: `${error.kind}: ${error.reason}` };
  }
}

/**
 * Two changes of one moment reach Google in any order. Whoever finds that the member moved on while it was patching patches
 * again, so that the last to write has written the newest state.
 */
async function patchWhatCameBetween(google: GoogleWalletAt, { member, program, readAgain }: PushGoogle): Promise<void> {
  let { tag } = member.pass;
  for (;;) {
    const newest = await readAgain();
    if (!newest || newest.pass.tag.getTime() === tag.getTime()) return;
    tag = newest.pass.tag;
    await google.wallet.patchObject(googleFaceOf({ member: newest, program }), { notify: false });
  }
}
