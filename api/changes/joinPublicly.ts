// Enrolls a person on the public page and mails the link to the card, to a new member as well as to one whose email is
// known. The mail does not reveal which of the two applies.
import { queueMail } from '../../activities/mail/queueMail.js';
import type { PublicEnrollment } from '../../schemas/enrollment.js';
import { ServiceError } from '../../schemas/errors.js';
import type { Language } from '../../schemas/languages/index.js';
import type { Actor } from '../../schemas/members.js';
import type { Program } from '../../schemas/programs.js';
import type { ApiDeps } from '../apiDeps.js';
import { type PerformedEnrollment, performEnrollment } from './performEnrollment.js';

export interface JoinPublicly extends PublicEnrollment {
  program: Program;
  /** Of the mail. */
  language: Language;
  actor: Actor;
  /** A digest of the browser that opened the form. */
  formDigest?: string;
  /** Waits for the wallets, as in {@link performEnrollment}. */
  awaited: boolean;
}

/**
 * Throws VALIDATION_FAILED when the program requires consent and it is missing, and the errors of performEnrollment.
 */
export async function joinPublicly(deps: ApiDeps, input: JoinPublicly): Promise<PerformedEnrollment> {
  const { program, person, attribution, consent, language, actor, awaited, formDigest } = input;
  if (program.enrollment.consentText !== undefined && !consent)
    throw new ServiceError('VALIDATION_FAILED', [
      { path: 'consent', message: 'must be true: the program asks for consent (enrollment.consentText)' },
    ]);
  const enrolled = await performEnrollment(deps, {
    ...{ program, person, attribution, consent, actor, awaited },
    ...(formDigest !== undefined && { formDigest }),
    source: 'public',
  });
  const { _id: memberId, merchantId } = enrolled.member;
  const reason = `${enrolled.kind === 'created' ? 'enrolled' : 'joined-again'}:${memberId}`;
  await queueMail(deps, {
    ...{ merchantId, memberId, language, reason },
    programId: program._id,
    to: person.email,
    kind: 'card-link',
  }).catch((error: unknown) => deps.log.warn({ err: error, memberId }, 'the link to a card could not be mailed'));
  return enrolled;
}
