// Queues one mail: a row in `mails`, and the workflow that sends it. The same reason is mailed at most once an hour.
// The mails of each kind to one address and the mails of one program in a minute are limited, so that nobody can be
// flooded (docs/decisions/mails-are-rows.md); the further mails of a program wait for their minute. The transaction of the
// mail also raises the counts of these limits, so they hold across processes.
import { createHmac } from 'node:crypto';
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { SecretBox } from '../../platform/secretBox.js';
import type { WorkflowClient } from '../../platform/temporal/workflowClient.js';
import { toError } from '../../platform/toError.js';
import type { MailCountRow, MailRow } from '../../schemas/mail/mail.rows.js';
import {
  confirmationMs,
  type MailData,
  type MailKind,
  mailKinds,
  type SealedMail,
  sealedMail,
} from '../../schemas/mail/mails.schema.js';
import { isMailOn } from '../../schemas/shared/config.schema.js';
import { derivedId, mailWorkflowId } from '../../schemas/shared/ids.js';
import type { Language } from '../../schemas/shared/languages/index.js';
import { workflowLostAt } from '../events/workflowLostAt.rules.js';
import type { SecretsDeps } from '../webhooks/signingSecrets.writes.js';

export interface MailDeps extends Deps {
  secrets: SecretBox;
  workflowClient: WorkflowClient;
}

export interface QueueMail {
  merchantId: string;
  /** An address as normalised by schemas/shared/email.rules.ts. */
  to: string;
  /**
   * Identifies duplicates: two mails with the same reason, for instance `card-link:<memberId>`, are the same mail.
   * Stored as a digest.
   */
  reason: string;
  kind: MailKind;
  language: Language;
  data?: MailData;
  /** The member that the mail is about. Required, with its program, for a `card-link`. */
  memberId?: string;
  /** For a `confirmation`, which is found again by its id and its mark until it ends. */
  confirmation?: Required<Pick<MailRow, '_id' | 'mark'>>;
  /** The program whose mails are spaced by its limit a minute; without it those of the merchant. */
  programId?: string;
}

/**
 * `queued`: sent at once, or as soon as the limit of the program allows. `repeated`: queued for the same reason within
 * the last hour. `limited`: the limit of the address is reached, or the mail would wait too long for its program.
 * `off`: no mail is configured.
 */
export type QueuedMail = 'queued' | 'repeated' | 'limited' | 'off';

interface Count {
  _id: string;
  most: number;
  withinMs: number;
  beyond: QueuedMail | 'later';
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A keyed digest, so that nobody without SECRETS_KEY can check whether an address was mailed. */
const digest = ({ config }: Deps, ...parts: string[]): string =>
  createHmac('sha256', config.SECRETS_KEY).update(JSON.stringify(parts)).digest('base64url');

/** Of each kind, so that none uses up another. A sign-in link is refused only while others that were mailed work. */
const addressShare = ({ config }: Deps, kind: MailKind): Pick<Count, 'most' | 'withinMs'> =>
  kind === 'sign-in'
    ? { most: config.MAIL_SIGN_INS_PER_ADDRESS, withinMs: config.SIGN_IN_LINK_MS }
    : { most: config.MAIL_PER_ADDRESS_AN_HOUR, withinMs: hourMs };

const countsOf = (deps: Deps, { merchantId, reason, kind, to, programId }: QueueMail): Count[] => [
  { _id: digest(deps, 'reason', merchantId, reason), most: 1, withinMs: hourMs, beyond: 'repeated' },
  { _id: digest(deps, 'address', kind, to), ...addressShare(deps, kind), beyond: 'limited' },
  {
    _id: digest(deps, 'program', merchantId, programId ?? ''),
    most: deps.config.MAIL_PER_PROGRAM_A_MINUTE,
    withinMs: minuteMs,
    beyond: 'later',
  },
];

/** The longest wait for the limit of the program. Of the time for which a link works, two thirds remain. */
const longestWaitMs = ({ config }: Deps, kind: MailKind): number =>
  Math.min(config.MAIL_MAX_WAIT_MS, mailKinds[kind].triedForMs / 3);

export const placeOf = (mailId: string) => ({ collection: 'mails', id: mailId, field: 'sealed' });

export const openMail = (
  { secrets }: Pick<MailDeps, 'secrets'>,
  { _id, sealed = '' }: Pick<MailRow, '_id' | 'sealed'>,
): SealedMail => sealedMail.parse(JSON.parse(secrets.open(sealed, placeOf(_id))));

/**
 * Returns when the mail is stored; the workflow sends it, and is started again if it is lost. Throws UNAVAILABLE, and
 * errors of the MongoDB driver, after which the mail may have been queued.
 */
export async function queueMail(deps: MailDeps, wanted: QueueMail): Promise<QueuedMail> {
  if (!isMailOn(deps.config)) return 'off';
  const { merchantId, programId = '' } = wanted;
  const queued = await deps.runExclusive(`mail:${merchantId}:${programId}`, () =>
    retryOnConflict(deps, () => storeMail(deps, wanted)),
  );
  if (typeof queued === 'string') return queued;
  if (deps.workflowClient.available()) await startMail(deps, queued);
  return 'queued';
}

/**
 * As {@link queueMail}, for a mail that can wait: at most once ever with this id, and only when its program has a mail
 * left in this minute. Otherwise `waitMs` says when to try again.
 */
export async function queueMailOnce(
  deps: MailDeps,
  mailId: string,
  wanted: QueueMail,
): Promise<QueuedMail | { waitMs: number }> {
  if (!isMailOn(deps.config)) return 'off';
  const { merchantId, programId = '' } = wanted;
  const queued = await deps.runExclusive(`mail:${merchantId}:${programId}`, () =>
    retryOnConflict(deps, async () => {
      const isQueued = await deps.collections.mails.countDocuments({ _id: mailId }, { limit: 1 });
      return isQueued > 0 ? 'repeated' : storeMail(deps, wanted, mailId);
    }),
  );
  if (typeof queued === 'string' || 'waitMs' in queued) return queued;
  if (deps.workflowClient.available()) await startMail(deps, queued);
  return 'queued';
}

/** With the id of a mail that can wait, none is stored that would be sent later. */
async function storeMail(deps: MailDeps, wanted: QueueMail): Promise<MailRow | QueuedMail>;
async function storeMail(
  deps: MailDeps,
  wanted: QueueMail,
  mailId: string,
): Promise<MailRow | QueuedMail | { waitMs: number }>;
async function storeMail(
  deps: MailDeps,
  wanted: QueueMail,
  mailId?: string,
): Promise<MailRow | QueuedMail | { waitMs: number }> {
  const { merchantId, memberId, programId, kind, language, reason, to, data = {}, confirmation } = wanted;
  const now = deps.now();
  const limits = countsOf(deps, wanted);
  const rows = await deps.collections.mailCounts.find({ _id: { $in: limits.map(({ _id }) => _id) } }).toArray();
  const counts = limits.map((limit) => {
    const row = rows.find(({ _id }) => _id === limit._id);
    return { ...limit, row, times: row?.times.filter((at) => at.getTime() > now.getTime() - limit.withinMs) ?? [] };
  });
  let start = now;
  for (const { most, withinMs, beyond, times } of counts) {
    const before = times.at(-most);
    if (times.length < most || !before) continue;
    if (beyond !== 'later') return beyond;
    start = new Date(before.getTime() + withinMs);
    if (mailId !== undefined) return { waitMs: start.getTime() - now.getTime() };
    if (start.getTime() - now.getTime() > longestWaitMs(deps, kind)) return 'limited';
  }
  const statements = counts.map(({ _id, most, withinMs, row, times }) => {
    const next: Omit<MailCountRow, '_id' | 'merchantId'> = {
      times: [...times, start].slice(-most),
      version: (row?.version ?? 0) + 1,
      expiresAt: new Date(start.getTime() + withinMs),
    };
    return row
      ? update(deps, 'mailCounts', { _id, version: row.version }, { $set: next })
      : insert(deps, 'mailCounts', { _id, merchantId, ...next });
  });
  const _id = mailId ?? confirmation?._id ?? derivedId('mail', merchantId, reason, now.toISOString());
  const sealed: SealedMail = { to, data };
  const mail: MailRow = {
    ...(confirmation && { ...confirmation, expiresAt: new Date(now.getTime() + confirmationMs) }),
    _id,
    merchantId,
    ...(memberId !== undefined && { memberId }),
    ...(programId !== undefined && { programId }),
    kind,
    language,
    state: 'queued',
    sealed: deps.secrets.seal(JSON.stringify(sealed), placeOf(_id)),
    attempts: 0,
    leasedUntil: start,
    triedUntil: new Date(now.getTime() + mailKinds[kind].triedForMs),
    dueAt: workflowLostAt(deps, start),
    createdAt: now,
  };
  await transact(deps, [...statements, insert(deps, 'mails', mail)], rows.length);
  return mail;
}

/** A failed start is repeated when the mail is due again (reviveMails.activity.ts). */
export async function startMail(
  { workflowClient, log }: Pick<MailDeps, 'workflowClient' | 'log'>,
  { _id: mailId, merchantId, memberId, kind }: Pick<MailRow, '_id' | 'merchantId' | 'memberId' | 'kind'>,
): Promise<void> {
  const workflowId = mailWorkflowId(memberId ?? merchantId, mailId);
  const summary = `mail: ${kind}`;
  const searchAttributes = { MerchantId: merchantId, ...(memberId !== undefined && { MemberId: memberId }) };
  await workflowClient
    .start({
      name: 'sendMail',
      workflowId,
      input: { merchantId, mailId },
      summary,
      searchAttributes,
      priority: 3,
      fairnessKey: merchantId,
    })
    .catch((error: unknown) =>
      log.warn({ err: error, workflowId }, 'a mail could not be started; a later run tries it'),
    );
}

/** The encrypted text of each waiting mail. */
export async function* sealedMails(deps: SecretsDeps): AsyncGenerator<{ id: string; sealed: string }> {
  const rows = deps.collections.mails.find({ sealed: { $exists: true } }, { projection: { sealed: 1 } });
  for await (const { _id: id, sealed } of rows) if (sealed !== undefined) yield { id, sealed };
}

/**
 * Encrypts every waiting mail with the newest key; a mail that was sent meanwhile stays as it is. Yields after each
 * mail. `mistake` says why a mail was left unchanged.
 */
export async function* resealMails(deps: SecretsDeps): AsyncGenerator<{ id: string; mistake?: string }> {
  for await (const { id, sealed } of sealedMails(deps)) {
    if (deps.secrets.isCurrent(sealed)) continue;
    try {
      const again = deps.secrets.seal(deps.secrets.open(sealed, placeOf(id)), placeOf(id));
      await deps.collections.mails.updateOne({ _id: id, sealed }, { $set: { sealed: again } });
      yield { id };
    } catch (error) {
      yield { id, mistake: toError(error).message };
    }
  }
}
