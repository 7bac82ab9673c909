// What a person who has just joined can still do about an address: correct a mistyped one, or get a lost card's link.
import type { Context } from 'koa';
import { cardLinkRule } from '../../activities/members/members.rules.js';
import { emailKey } from '../../activities/members/newMember.rules.js';
import { updateRule } from '../../activities/members/updateMember.rules.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId } from '../../schemas/shared/ids.js';
import type { Language } from '../../schemas/shared/languages/index.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { publicCaller } from '../http/guard.js';
import { mailCardLink } from './joinPublicly.writes.js';
import { performChange } from './performChange.writes.js';

/**
 * Gives the member another address, and the card another link, because the link of before was mailed to a stranger.
 * Null when another member of the program has the address. Throws UNAVAILABLE.
 */
export async function correctAddress(
  deps: ApiDeps,
  ctx: Context,
  { member: { _id: id, merchantId }, email }: { member: MemberRow; email: string },
): Promise<MemberRow | null> {
  const correct = updateRule(deps, { email });
  try {
    const { changed } = await performChange(
      { deps, caller: { ...publicCaller, merchantId }, params: { id }, ctx },
      {
        noun: 'update',
        decide: async (member) => {
          const decision = await correct(member);
          return decision && { ...cardLinkRule({ replaceToken: false })(), ...decision };
        },
      },
    );
    return changed.member;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'EMAIL_TAKEN') return null;
    throw error;
  }
}

/**
 * Mails the link to the card of the member with this address, if there is one. Works in the background, so that the
 * answer and its time do not reveal whether there is one.
 */
export function mailLostCard(
  deps: ApiDeps,
  { program: { _id: programId, merchantId }, email, language }: { program: Program; email: string; language: Language },
): void {
  const mail = async () => {
    const row = await deps.read.email({ _id: emailKey(programId, email), merchantId });
    const member = row && (await deps.read.member({ _id: row.memberId, merchantId }));
    // A reason of its own: the limit of the address bounds how often it is mailed.
    if (member) await mailCardLink(deps, { member, to: email, language, reason: `lost:${newId()}` });
  };
  mail().catch((error: unknown) => deps.log.warn({ err: error, programId }, 'the link to a lost card was not mailed'));
}
