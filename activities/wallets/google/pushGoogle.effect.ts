// Pushes a change of one member to its Google object; only customers who saved the object see the change. A change
// message is sent as a Google message, which notifies the customer within Google's daily limit.

import type { MemberRow } from '../../../schemas/members/members.rows.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { makeGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import { googlePassView } from '../../../schemas/wallets/passes.view.js';
import type { GoogleWallet } from '../wallets.client.js';
import { GoogleWalletError } from './googleWalletError.rules.js';

export interface GooglePush {
  /** True when the object was updated and a customer has it. */
  objectPatched: boolean;
  /** Whether a customer has the object, from Google's answer; absent when there was no answer. */
  hasUsers?: boolean;
  answer: 'patched' | GoogleWalletError['kind'];
  /** When Google accepted the object of a customer; absent unless the push is complete. */
  acceptedAt?: Date;
  /** True when the push has to be tried again. */
  unreached: boolean;
  detail: string;
}

export interface PushGoogle {
  member: MemberRow;
  program: Program;
  /** Reads the member again, as it is at the time of the call. */
  readAgain: () => Promise<MemberRow | null>;
  message: { id: string; body: string } | undefined;
  /**
   * Whether Google itself notifies the customer of the new points. Ignored when there is a message, which contains
   * more.
   */
  notify: boolean;
  now: () => Date;
  /** pushGoogle settles within this time. A request that was already sent to Google may still take effect. */
  withinMs: number;
}

const late: GooglePush = { objectPatched: false, answer: 'transient', unreached: true, detail: 'no answer in time' };

export async function pushGoogle(google: GoogleWallet, push: PushGoogle): Promise<GooglePush> {
  const deadline = Date.now() + push.withinMs;
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<GooglePush>((resolve) => {
    timer = setTimeout(() => resolve(late), push.withinMs);
  });
  try {
    return await Promise.race([patchAndMessage(google, push, deadline), timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

async function patchAndMessage(google: GoogleWallet, push: PushGoogle, deadline: number): Promise<GooglePush> {
  const { member, program, message, notify, now } = push;
  let objectPatched = false;
  try {
    const view = googlePassView({ member, program });
    const { hasUsers, messages } = await google.api.patchObject(view, { notify: notify && message === undefined });
    objectPatched = hasUsers;
    const acceptedAt = now();
    await patchUntilCurrent(google, push);
    const patched = (detail: string): GooglePush => ({
      objectPatched,
      hasUsers,
      answer: 'patched',
      ...(hasUsers && { acceptedAt }),
      unreached: false,
      detail,
    });
    if (!hasUsers) return patched('no customer has the card');
    // After the deadline, the next attempt sends the message. If this attempt sent it too, the customer would see it
    // twice. Asked of the clock, because the timer of a process that was paused fires after the answers it has missed.
    if (!message) return patched('');
    if (Date.now() >= deadline) return { ...late, objectPatched };
    // An earlier attempt may have sent it, and died or timed out before it could record that.
    if (messages.some(({ id }) => id === message.id)) return patched('message existed');
    const objectId = makeGoogleObjectId(google.credentials.issuerId, member._id);
    const { outcome } = await google.api.addMessage(objectId, {
      id: message.id,
      header: program.name,
      body: message.body,
    });
    return patched(`message ${outcome}`);
  } catch (error) {
    if (!(error instanceof GoogleWalletError)) throw error;
    return { objectPatched, answer: error.kind, unreached: error.mayPass, detail: `${error.kind}: ${error.reason}` };
  }
}

/**
 * Concurrent changes of a member can reach Google in any order. If the member changed during a patch, this function
 * patches again, so that the last write has the newest state.
 */
async function patchUntilCurrent(google: GoogleWallet, { member, program, readAgain }: PushGoogle): Promise<void> {
  let { tag } = member.pass;
  for (;;) {
    const newest = await readAgain();
    if (!newest || newest.pass.tag.getTime() === tag.getTime()) return;
    tag = newest.pass.tag;
    await google.api.patchObject(googlePassView({ member: newest, program }), { notify: false });
  }
}
