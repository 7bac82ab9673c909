// Sign-in links by mail: to people who request one with the address of a user, and to invited users. Both are sent in
// the background, so the response time does not reveal whether an address is known, and an invitation is valid even if
// its mail fails, because the user can request a link.

import type { UserRow } from '../../schemas/access/access.rows.js';
import { builtInRoles } from '../../schemas/access/permissions.schema.js';
import { invitationMs } from '../../schemas/mail/mails.schema.js';
import { type Config, isMailOn } from '../../schemas/shared/config.schema.js';
import { sha256 } from '../../schemas/shared/ids.js';
import type { Language } from '../../schemas/shared/languages/index.js';
import { createSignInLink, signInUrl } from '../access/sessions.writes.js';
import { type CreateUser, createUser } from '../access/users.writes.js';
import { type MailDeps, queueMail } from './queueMail.writes.js';

/** Whether links can be mailed; otherwise the operator hands them out. */
export const mailsLinks = ({ config }: { config: Config }): boolean => isMailOn(config);

interface LinkMail {
  kind: 'sign-in' | 'invitation';
  /** All with the same address. */
  users: UserRow[];
  token: string;
  language: Language;
  /** Of an invitation: the email of who invites, where it is known. */
  invitedBy?: string | undefined;
}

export async function mailLink(deps: MailDeps, { kind, users, token, language, invitedBy }: LinkMail): Promise<void> {
  const [first, ...others] = users;
  if (!first) return;
  const { merchantId, email: to } = first;
  const merchant = await deps.collections.merchants.findOne({ _id: merchantId }, { projection: { name: 1 } });
  // A mail to a person who belongs to several merchants names none of them.
  const merchantName = others.length === 0 ? merchant?.name : undefined;
  const roles = kind === 'invitation' ? await rolesOf(deps, first) : {};
  const data = {
    link: signInUrl(deps, token),
    ...(merchantName !== undefined && { merchantName }),
    ...(invitedBy !== undefined && { invitedBy }),
    ...roles,
  };
  await queueMail(deps, { merchantId, to, reason: `${kind}:${sha256(token)}`, kind, language, data });
}

/** Apart, because a merchant may give a role the name of a built-in one. */
async function rolesOf(deps: MailDeps, { merchantId, roleIds }: UserRow) {
  const own = await deps.collections.roles.find({ _id: { $in: roleIds }, merchantId }).toArray();
  return { roles: roleIds.filter((id) => Object.hasOwn(builtInRoles, id)), ownRoles: own.map(({ name }) => name) };
}

async function mailNewLink(deps: MailDeps, { users, ...mail }: Omit<LinkMail, 'token'>): Promise<void> {
  const [first] = users;
  if (!first || !mailsLinks(deps)) return;
  const worksForMs = mail.kind === 'invitation' ? invitationMs : undefined;
  const userIds = users.map(({ _id }) => _id);
  const token = await createSignInLink(deps, { email: first.email, userIds, ...(worksForMs && { worksForMs }) });
  await mailLink(deps, { ...mail, users, token });
}

function inBackground({ log }: MailDeps, work: Promise<void>): void {
  work.catch((error: unknown) => log.warn({ err: error }, 'a sign-in link was not mailed'));
}

/** Throws the errors of `createUser`. */
export async function inviteUser(
  deps: MailDeps,
  { language, invitedBy, ...input }: CreateUser & Pick<LinkMail, 'language' | 'invitedBy'>,
): Promise<UserRow> {
  const user = await createUser(deps, input);
  inBackground(deps, mailNewLink(deps, { kind: 'invitation', users: [user], language, invitedBy }));
  return user;
}

export function mailSignInLink(deps: MailDeps, { email, language }: { email: string; language: Language }): void {
  const users = deps.collections.users.find({ email }).toArray();
  inBackground(
    deps,
    users.then((found) => mailNewLink(deps, { kind: 'sign-in', users: found, language })),
  );
}
