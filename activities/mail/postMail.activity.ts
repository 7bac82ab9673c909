// Makes one attempt to send a mail. The attempt leases the mail, and marks it as sent once the server has accepted it.
// If the process dies between the two, the mail is sent again, because SMTP cannot say whether a mail was accepted.
// Both copies have the same Message-ID.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { MailRow } from '../../schemas/mail/mail.rows.js';
import type { MailState } from '../../schemas/mail/mails.schema.js';
import { workflowLostAt } from '../events/workflowLostAt.rules.js';
import type { WorkerDeps } from '../workerDeps.js';
import { composeMail } from './composeMail.view.js';
import { MailDelayed, MailRefused } from './mailer.client.js';
import { openMail } from './queueMail.writes.js';

export interface PostMail {
  mailId: string;
  signal: AbortSignal;
}

export interface PostedMail {
  /** `removed`: the row is gone, because the person was erased. */
  state: Exclude<MailState, 'queued'> | 'removed';
  /** Only after a failure. */
  failure?: string;
}

const firstWaitMs = 2_000;
const longestWaitMs = 300_000;
/** The lease of an attempt that died ends this long after the attempt must have ended. */
const leaseMarginMs = 5_000;

const waitAfter = (attempts: number): number => Math.min(firstWaitMs * 2 ** Math.min(attempts - 1, 20), longestWaitMs);

const again = (message: string, waitMs: number): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: 'MAIL_DELAYED',
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: Math.max(waitMs, 1),
  });

/** Throws a retryable ApplicationFailure with the time of the next attempt, unless the mail was sent or given up. */
export async function postMail(deps: WorkerDeps, { mailId, signal }: PostMail): Promise<PostedMail> {
  const { mails } = deps.collections;
  const now = deps.now();
  const leasedUntil = new Date(now.getTime() + deps.config.SMTP_TIMEOUT_MS + leaseMarginMs);
  const mail = await mails.findOneAndUpdate(
    { _id: mailId, state: 'queued', leasedUntil: { $lte: now } },
    { $set: { leasedUntil, dueAt: workflowLostAt(deps, leasedUntil) }, $inc: { attempts: 1 } },
    { returnDocument: 'after' },
  );
  if (!mail) return statusOf(deps, mailId);
  if (now >= mail.triedUntil) return end(deps, mail, { state: 'failed', failure: mail.failure ?? 'TOO_LATE' });
  const { mailer } = deps;
  let memberId: string | undefined;
  if (!mailer) return end(deps, mail, { state: 'failed', failure: 'MAIL_IS_OFF' });
  try {
    const { to, data } = openMail(deps, mail);
    const composed = await composeMail(deps, { mail, to, data });
    if (!composed) return end(deps, mail, { state: 'failed', failure: 'MEMBER_GONE' });
    await mailer.send(composed, signal);
    memberId = composed.memberId;
    deps.crashPoint('after-mail-before-mark');
  } catch (error) {
    if (error instanceof MailRefused) return end(deps, mail, { state: 'failed', failure: error.message });
    if (error instanceof MailDelayed) throw await delay(deps, mail, error);
    throw error;
  }
  return end(deps, memberId === undefined ? mail : { ...mail, memberId }, { state: 'sent' });
}

async function statusOf(deps: WorkerDeps, mailId: string): Promise<PostedMail> {
  const row = await deps.collections.mails.findOne({ _id: mailId });
  if (!row) return { state: 'removed' };
  const { state, failure, leasedUntil } = row;
  if (state === 'queued')
    throw again('The mail is leased, or not due yet.', leasedUntil.getTime() - deps.now().getTime());
  return { state, ...(state === 'failed' && failure !== undefined && { failure }) };
}

async function end(
  deps: WorkerDeps,
  { _id, kind, leasedUntil, memberId }: MailRow,
  ended: { state: 'sent' } | { state: 'failed'; failure: string },
): Promise<PostedMail> {
  // A person who opens the mail can still confirm the address.
  const isPending = kind === 'confirmation' && ended.state === 'sent' && memberId === undefined;
  const { matchedCount } = await deps.collections.mails.updateOne(
    { _id, state: 'queued', leasedUntil },
    {
      $set: { ...ended, ...(ended.state === 'sent' && { sentAt: deps.now() }), ...(memberId && { memberId }) },
      $unset: {
        dueAt: '',
        ...(!isPending && { sealed: '', mark: '', expiresAt: '' }),
        ...(ended.state === 'sent' && { failure: '' }),
      },
    },
  );
  deps.metrics.mail(kind, ended.state);
  if (ended.state === 'failed') deps.log.warn({ mailId: _id, kind, failure: ended.failure }, 'a mail was given up');
  if (matchedCount > 0) return ended;
  const status = await statusOf(deps, _id);
  if (status.state === 'removed') await deps.mailer?.forget([_id]);
  return status;
}

async function delay(
  deps: WorkerDeps,
  { _id, kind, attempts, leasedUntil }: MailRow,
  { message }: MailDelayed,
): Promise<ApplicationFailure> {
  const now = deps.now();
  const waitMs = waitAfter(attempts);
  const dueAt = workflowLostAt(deps, new Date(now.getTime() + waitMs));
  await deps.collections.mails.updateOne(
    { _id, state: 'queued', leasedUntil },
    { $set: { leasedUntil: now, dueAt, failure: message } },
  );
  deps.metrics.mail(kind, 'delayed');
  deps.log.info({ mailId: _id, kind, failure: message, waitMs }, 'a mail was not taken; it is sent later');
  return again(`The mail was not taken: ${message}.`, waitMs);
}
