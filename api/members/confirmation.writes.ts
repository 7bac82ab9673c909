// The confirmation of an address on the public page (`enrollment.confirmEmail`). What was entered is stored with the
// mail, encrypted, and the person who presses the button behind the mailed link is enrolled with it. Nothing about the
// address is read before the mail is sent, so neither the answer nor its time reveals whether a member has it.
import { openMail, queueMail } from '../../activities/mail/queueMail.writes.js';
import { requireEnrollable } from '../../activities/members/enrollMember.writes.js';
import { withExpiry } from '../../activities/programs/expirySince.writes.js';
import type { MailRow } from '../../schemas/mail/mail.rows.js';
import type { Joining } from '../../schemas/members/enrollment.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { confirmationId, confirmationMark, newToken } from '../../schemas/shared/ids.js';
import type { Language } from '../../schemas/shared/languages/index.js';
import type { ApiDeps } from '../http/apiDeps.js';

/**
 * Returns the id of the mail. Throws PROGRAM_ARCHIVED, and UNAVAILABLE when mail is off. Beyond the limits of mails
 * nothing is stored.
 */
export async function askToConfirm(
  deps: ApiDeps,
  { program, language, joining }: { program: Program; language: Language; joining: Joining },
): Promise<string> {
  requireEnrollable(program);
  const { _id: programId, merchantId } = program;
  const { email: to } = joining.person;
  const token = newToken();
  const _id = confirmationId(token);
  const queued = await queueMail(deps, {
    ...{ merchantId, programId, language, to },
    kind: 'confirmation',
    reason: `confirmation:${_id}`,
    data: { link: `${deps.config.PUBLIC_URL}/enroll/confirm/${token}`, joining },
    confirmation: { _id, mark: confirmationMark(programId, to) },
  });
  if (queued === 'off') throw new ServiceError('UNAVAILABLE');
  return _id;
}

interface Confirmation {
  mail: MailRow;
  program: Program;
  joining: Joining;
}

/** What the link of a mail enrolls; null when the link is unknown, used or expired. */
export async function readConfirmation(deps: ApiDeps, token: string): Promise<Confirmation | null> {
  const mail = await deps.collections.mails.findOne({ _id: confirmationId(token) });
  if (!mail?.expiresAt || mail.expiresAt <= deps.now()) return null;
  const { joining } = openMail(deps, mail).data;
  const { merchantId, programId: _id = '' } = mail;
  const program = await deps.read.program({ _id, merchantId });
  return joining && program ? { mail, joining, program: await withExpiry(deps, program) } : null;
}

/** The link of a mistyped address works no more. */
export async function dropConfirmation(deps: ApiDeps, _id: string, { merchantId, _id: programId }: Program) {
  await deps.collections.mails.deleteOne({
    _id,
    merchantId,
    programId,
    kind: 'confirmation',
    memberId: { $exists: false },
  });
}

/** From then on the link does not work, and of what was entered nothing is left but the member. */
export async function spendConfirmation(
  deps: ApiDeps,
  { _id, merchantId }: MailRow,
  { _id: memberId }: MemberRow,
): Promise<void> {
  await deps.collections.mails.updateOne(
    { _id, merchantId },
    { $set: { state: 'sent', memberId }, $unset: { sealed: '', mark: '', expiresAt: '', dueAt: '', failure: '' } },
  );
}

/** The member that a used link has enrolled. */
export async function memberOfConfirmation(deps: ApiDeps, token: string): Promise<MemberRow | null> {
  const mail = await deps.collections.mails.findOne({ _id: confirmationId(token) });
  if (mail?.memberId === undefined) return null;
  return deps.read.member({ _id: mail.memberId, merchantId: mail.merchantId });
}
