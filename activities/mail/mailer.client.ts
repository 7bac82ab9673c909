// Hands a composed mail to the configured SMTP server, or writes it into a folder. Errors contain only the server's
// codes, because its texts quote the address.

import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { deadline } from '../../platform/deadline.js';
import type { MailKind } from '../../schemas/mail/mails.schema.js';
import type { Config } from '../../schemas/shared/config.schema.js';

export interface Mail {
  id: string;
  kind: MailKind;
  memberId?: string | undefined;
  mark?: string | undefined;
  createdAt: Date;
  to: string;
  /** The name that the recipient sees as the sender. */
  fromName: string;
  subject: string;
  text: string;
  html: string;
}

export interface Mailer {
  /** Throws MailRefused, which is final, and MailDelayed, after which the mail may be sent later. */
  send: (mail: Mail, signal: AbortSignal) => Promise<void>;
  /**
   * Removes the stored files of mails, by their ids, those of members, or their marks. With an SMTP server, nothing is
   * stored here.
   */
  forget: (ids: readonly string[]) => Promise<void>;
}

/** A final refusal by the server. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

/** Nothing was accepted; another attempt may succeed. */
export class MailDelayed extends Error {
  override readonly name = 'MailDelayed';
}

type Settings = Pick<Config, 'SMTP_URL' | 'SMTP_CA' | 'SMTP_TIMEOUT_MS' | 'MAIL_FROM' | 'MAIL_FOLDER' | 'PUBLIC_URL'>;

/** Null when the settings name neither a server nor a folder. */
export function createMailer(settings: Settings): Mailer | null {
  if (settings.SMTP_URL !== undefined) return smtpMailer(settings, new URL(settings.SMTP_URL));
  return settings.MAIL_FOLDER === undefined ? null : folderMailer(settings, settings.MAIL_FOLDER);
}

/** The host of PUBLIC_URL, when mail can be sent from it. */
function ownDomain({ PUBLIC_URL }: Settings): string {
  const { hostname } = new URL(PUBLIC_URL);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : 'localhost';
}

function messageOf(settings: Settings, { id, to, fromName, subject, text, html, createdAt }: Mail) {
  const domain = ownDomain(settings);
  return {
    from: { name: fromName, address: settings.MAIL_FROM ?? `no-reply@${domain}` },
    to,
    subject,
    text,
    html,
    date: createdAt,
    // The same in every attempt, so that the server can recognise a duplicate.
    messageId: `<${id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

const loopback = ['127.0.0.1', '[::1]', 'localhost'];

function smtpMailer(settings: Settings, url: URL): Mailer {
  const { SMTP_CA: ca, SMTP_TIMEOUT_MS: timeoutMs } = settings;
  const { hostname, port, username } = url;
  const secure = url.protocol === 'smtps:';
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    secure,
    // A password never leaves this machine unencrypted.
    requireTLS: !secure && username !== '' && !loopback.includes(hostname),
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(url.password) } }),
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
  });
  return {
    async send(mail, signal) {
      const within = deadline(timeoutMs, signal);
      try {
        await transport.sendMail({ ...messageOf(settings, mail), signal: within });
      } catch (error) {
        throw failureOf(error);
      }
    },
    forget: async () => {},
  };
}

/** The fields that nodemailer adds to its errors. */
interface SmtpFailure {
  code?: string;
  originalCode?: string;
  /** The command that the server answered. */
  command?: string;
  responseCode?: number;
  response?: string;
  permanent?: boolean;
}

/** Only after these commands, a 5xx is about this mail. After other commands, an operator has to fix something. */
const aboutTheMail = ['RCPT TO', 'DATA'];

function failureOf(error: unknown): MailRefused | MailDelayed {
  const { code, originalCode, command, responseCode, response, permanent }: SmtpFailure = Object(error);
  const status = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response ?? '')?.[1];
  const answer = [command, responseCode, status].filter((part) => part !== undefined).join(' ');
  const what = responseCode === undefined ? (originalCode ?? code ?? 'UNKNOWN') : answer;
  const isFinal = responseCode === undefined ? code === 'EENVELOPE' : permanent && aboutTheMail.includes(command ?? '');
  return isFinal ? new MailRefused(what) : new MailDelayed(what);
}

/** The folder is for development; beyond this number, the oldest mails are removed. */
const keptFiles = 1_000;

function folderMailer(settings: Settings, folder: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const files = async () => (await readdir(folder)).filter((name) => name.endsWith('.eml')).toSorted();
  const remove = (names: string[]) => Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
  return {
    async send(mail) {
      const { message } = await transport.sendMail(messageOf(settings, mail));
      const at = mail.createdAt.toISOString().replaceAll(':', '-');
      const owners = [mail.memberId, mail.mark].filter((owner) => owner !== undefined);
      const name = [at, mail.kind, ...owners, mail.id].join('.');
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(join(folder, `${name}.part`), message, { mode: 0o600 });
        await rename(join(folder, `${name}.part`), join(folder, `${name}.eml`));
        await remove((await files()).slice(0, -keptFiles));
      } catch (error) {
        throw new MailDelayed(`MAIL_FOLDER ${String(Object(error).code ?? 'cannot be written')}`);
      }
    },
    async forget(ids) {
      const names = await files().catch(() => []);
      await remove(names.filter((name) => name.split('.').some((part) => ids.includes(part))));
    },
  };
}
