// Enrolls a person on the public page and mails the link to the card, to a new member as well as to one whose email is
// known. The mail does not reveal which of the two applies. Where the program has addresses confirmed, joining only
// queues a mail (confirmation.writes.ts).
import { queueMail } from '../../activities/mail/queueMail.writes.js';
import type { Actor } from '../../schemas/access/actor.schema.js';
import type { Joining, PublicEnrollment } from '../../schemas/members/enrollment.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
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
  /** Why the link is mailed, where that is not the joining itself; the same reason is mailed once an hour. */
  reason?: string;
  /** Waits for the wallets, as in {@link performEnrollment}. */
  awaited: boolean;
}

export type JoinPublicly = Enrolling & PublicEnrollment;

/** `confirm`: the address has to be confirmed first; `mailId` is that of the mail about it. */
export type JoinedPublicly = PerformedEnrollment | { kind: 'confirm'; mailId: string };

/**
 * Throws VALIDATION_FAILED when the program requires consent and it is missing, and the errors of askToConfirm and
 * performEnrollment.
 */
export async function joinPublicly(
  deps: ApiDeps,
  { person, attribution, consent, marketing, ...enrolling }: JoinPublicly,
): Promise<JoinedPublicly> {
  const { program, language } = enrolling;
  const { consentText, marketingText, confirmEmail } = program.enrollment;
  if (consentText !== undefined && !consent)
    throw new ServiceError('VALIDATION_FAILED', [
      { path: 'consent', message: 'must be true: the program asks for consent (enrollment.consentText)' },
    ]);
  const agreed = (text: string) => ({ at: deps.now(), programVersion: versionOf(program), text });
  const joining: Joining = {
    ...{ person, attribution },
    ...(consentText !== undefined && { consent: agreed(consentText) }),
    ...(marketing && marketingText !== undefined && { marketing: agreed(marketingText) }),
  };
  if (!confirmEmail) return enrollAndMail(deps, { ...enrolling, joining });
  return { kind: 'confirm', mailId: await askToConfirm(deps, { program, language, joining }) };
}

/** Throws the errors of performEnrollment. */
export async function enrollAndMail(
  deps: ApiDeps,
  { language, joining, reason: given, ...enrolling }: Enrolling & { joining: Joining },
): Promise<PerformedEnrollment> {
  const enrolled = await performEnrollment(deps, { ...enrolling, ...joining, source: 'public' });
  const reason = given ?? (enrolled.kind === 'created' ? 'enrolled' : 'joined-again');
  await mailCardLink(deps, { member: enrolled.member, to: joining.person.email, language, reason });
  return enrolled;
}

interface MailCardLink {
  member: MemberRow;
  to: string;
  language: Language;
  /** The same reason is mailed once an hour. */
  reason: string;
}

/** A failure is logged: the person can ask for the link again. */
export async function mailCardLink(deps: ApiDeps, { member, reason, ...mail }: MailCardLink): Promise<void> {
  const { _id: memberId, merchantId, programId } = member;
  const wanted = {
    ...mail,
    merchantId,
    memberId,
    programId,
    kind: 'card-link',
    reason: `${reason}:${memberId}`,
  } as const;
  await queueMail(deps, wanted).catch((error: unknown) =>
    deps.log.warn({ err: error, memberId }, 'the link to a card could not be mailed'),
  );
}
