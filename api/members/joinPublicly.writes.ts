// Enrolls a person on the public page and mails the link to the card, to a new member as well as to one whose email is
// known. The mail does not reveal which of the two applies. Where the program has addresses confirmed, joining only
// queues a mail (confirmation.writes.ts).
import { queueMail } from '../../activities/mail/queueMail.writes.js';
import type { Actor } from '../../schemas/access/actor.schema.js';
import type { Joining, PublicEnrollment } from '../../schemas/members/enrollment.schema.js';
import { type Program, versionOf } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { Language } from '../../schemas/shared/languages/index.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { askToConfirm } from './confirmation.writes.js';
import { type PerformedEnrollment, performEnrollment } from './performEnrollment.writes.js';

interface Enrolling {
  program: Program;
  /** Of the mail. */
  language: Language;
  actor: Actor;
  /** A digest of the browser that opened the form. */
  formDigest?: string;
  /** Waits for the wallets, as in {@link performEnrollment}. */
  awaited: boolean;
}

export type JoinPublicly = Enrolling & PublicEnrollment;

/**
 * Null when the address has to be confirmed first. Throws VALIDATION_FAILED when the program requires consent and it is
 * missing, and the errors of askToConfirm and performEnrollment.
 */
export async function joinPublicly(
  deps: ApiDeps,
  { person, attribution, consent, ...enrolling }: JoinPublicly,
): Promise<PerformedEnrollment | null> {
  const { program, language } = enrolling;
  const text = program.enrollment.consentText;
  if (text !== undefined && !consent)
    throw new ServiceError('VALIDATION_FAILED', [
      { path: 'consent', message: 'must be true: the program asks for consent (enrollment.consentText)' },
    ]);
  const joining: Joining = {
    ...{ person, attribution },
    ...(text !== undefined && { consent: { at: deps.now(), programVersion: versionOf(program), text } }),
  };
  if (!program.enrollment.confirmEmail) return enrollAndMail(deps, { ...enrolling, joining });
  await askToConfirm(deps, { program, language, joining });
  return null;
}

/** Throws the errors of performEnrollment. */
export async function enrollAndMail(
  deps: ApiDeps,
  { language, joining, ...enrolling }: Enrolling & { joining: Joining },
): Promise<PerformedEnrollment> {
  const enrolled = await performEnrollment(deps, { ...enrolling, ...joining, source: 'public' });
  const { _id: memberId, merchantId, programId } = enrolled.member;
  const reason = `${enrolled.kind === 'created' ? 'enrolled' : 'joined-again'}:${memberId}`;
  await queueMail(deps, {
    ...{ merchantId, memberId, programId, language, reason },
    to: joining.person.email,
    kind: 'card-link',
  }).catch((error: unknown) => deps.log.warn({ err: error, memberId }, 'the link to a card could not be mailed'));
  return enrolled;
}
