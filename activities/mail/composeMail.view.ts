// Composes a mail from the data at the time of sending, such as the current link to a card. Of what was entered on the
// public page a mail contains only a first name, because anybody can enter the address of another person there.
import type { Deps } from '../../platform/deps.js';
import { Html, html } from '../../platform/html.js';
import type { MailRow } from '../../schemas/mail/mail.rows.js';
import { confirmationHours, invitationHours, type MailData } from '../../schemas/mail/mails.schema.js';
import { signInMinutes } from '../../schemas/shared/config.schema.js';
import { catalogues, type Language } from '../../schemas/shared/languages/index.js';
import { isolated } from '../../schemas/shared/text.js';
import { passUrlOf } from '../../schemas/wallets/passes.view.js';
import { emailKey } from '../members/newMember.rules.js';
import { cachedProgram } from '../programs/program.reads.js';
import type { Mail } from './mailer.client.js';

interface Sender {
  firstName?: string | undefined;
  name: string;
  link: string;
  colors: { background: string; foreground: string };
}

const neutral = { background: '#27272a', foreground: '#ffffff' };

/**
 * Null when the member of a card link is gone, or has another address by now: it is mailed only to the address that the
 * member has. The confirmation of an address that a member has by now becomes the link to that member's card. Throws
 * PROGRAM_NOT_FOUND.
 */
export async function composeMail(
  deps: Deps,
  { mail: row, to, data }: { mail: MailRow; to: string; data: MailData },
): Promise<Mail | null> {
  const memberId = row.kind === 'confirmation' ? await memberWith(deps, row, to) : undefined;
  const mail: MailRow = memberId === undefined ? row : { ...row, kind: 'card-link', memberId };
  const sender = await senderOf(deps, { mail, to, data });
  if (!sender) return null;
  const { name, link } = sender;
  const { kind } = mail;
  const said = catalogues[mail.language].mail;
  const { [kind]: words, hello: greet, orOpen } = said;
  const hello = greet(greetable(sender.firstName));
  const subject = words.subject(name);
  const texts = {
    'card-link': () => said['card-link'].text(name),
    confirmation: () => said.confirmation.text(name, confirmationHours),
    'sign-in': () => said['sign-in'].text(name, signInMinutes(deps.config)),
    invitation: () => invited(said, name, data),
  };
  const paragraphs = { hello, text: texts[kind](), orOpen, why: words.why(name) };
  return {
    id: mail._id,
    kind,
    memberId: mail.memberId,
    mark: mail.mark,
    createdAt: mail.createdAt,
    to,
    fromName: name,
    subject,
    text: `${hello}\n\n${paragraphs.text}\n\n${link}\n\n${paragraphs.why}\n`,
    html: page({ ...paragraphs, subject, button: words.button, sender, language: mail.language }).text,
  };
}

/** Who invites, and what each role may do. */
function invited(
  { invitation, may }: (typeof catalogues)[Language]['mail'],
  merchant: string,
  { invitedBy, roles = [], ownRoles = [] }: MailData,
): string {
  const told = roles.flatMap((role) => may[role as keyof typeof may] ?? []);
  const named = ownRoles.map((name) => invitation.role(isolated(name)));
  return [invitation.text(merchant, invitationHours, invitedBy), ...told, ...named].join(' ');
}

async function memberWith(deps: Deps, { merchantId, programId = '' }: MailRow, email: string) {
  return (await deps.read.email({ _id: emailKey(programId, email), merchantId }))?.memberId;
}

async function senderOf(
  deps: Deps,
  { mail, to, data }: { mail: MailRow; to: string; data: MailData },
): Promise<Sender | null> {
  const { link = '', merchantName = 'Loyalty', joining } = data;
  if (mail.kind === 'confirmation')
    return { ...(await programSender(deps, mail, link)), firstName: joining?.person.firstName };
  if (mail.kind !== 'card-link') return { name: merchantName, link, colors: neutral };
  const member = await deps.read.member({ _id: mail.memberId ?? '', merchantId: mail.merchantId });
  const isTheirs =
    member?.email !== undefined && emailKey(member.programId, member.email) === emailKey(member.programId, to);
  return isTheirs
    ? { ...(await programSender(deps, mail, passUrlOf(deps, member))), firstName: member.firstName }
    : null;
}

async function programSender(deps: Deps, { merchantId, programId = '' }: MailRow, link: string): Promise<Sender> {
  const { name, passTemplate } = await cachedProgram(deps, { merchantId, programId });
  return { name: passTemplate.organizationName ?? name, link, colors: passTemplate.colors };
}

/** A name of letters, which can say nothing else; anybody can enter one together with the address of another person. */
const nameForm = /^\p{L}[\p{L}\p{M}'’-]*(?: \p{L}[\p{L}\p{M}'’-]*){0,2}$/u;

function greetable(firstName: string | undefined): string | undefined {
  return firstName !== undefined && firstName.length <= 30 && nameForm.test(firstName) ? firstName : undefined;
}

interface MailPage {
  subject: string;
  hello: string;
  text: string;
  button: string;
  orOpen: string;
  why: string;
  sender: Sender;
  language: string;
}

/** Only the button has colours of its own. Everything else uses the reader's colours, light or dark. */
function page({ subject, hello, text, button, orOpen, why, sender, language }: MailPage): Html {
  const { name, link, colors } = sender;
  const font = new Html("font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif");
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${subject}</title>
<style>:root { color-scheme: light dark; }</style>
</head>
<body style="margin:0;padding:24px 16px;${font}">
<main style="display:block;max-width:480px;margin:0 auto">
<h1 style="margin:0 0 24px;font-size:20px;line-height:1.3">${name}</h1>
<p style="margin:0 0 12px">${hello}</p>
<p style="margin:0 0 24px">${text}</p>
<p style="margin:0 0 24px"><a href="${link}" style="display:inline-block;padding:12px 24px;border-radius:12px;border:1px solid ${colors.foreground};background-color:${colors.background};color:${colors.foreground};font-weight:600;text-decoration:none">${button}</a></p>
<p style="margin:0 0 24px;font-size:14px">${orOpen}<br><a href="${link}" style="color:inherit;word-break:break-all">${link}</a></p>
<p style="margin:0;font-size:13px">${why}</p>
</main>
</body>
</html>
`;
}
