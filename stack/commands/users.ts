// The people who sign in to the console of a merchant. A sign-in link is printed once; only its hash is stored.
import { createSignInLink, signInUrl } from '../../activities/access/sessions.writes.js';
import { createUser, findUser, listUsers, removeUser } from '../../activities/access/users.writes.js';
import { mailLink, mailsLinks } from '../../activities/mail/signInMails.writes.js';
import type { UserRow } from '../../schemas/access/access.rows.js';
import { invitationMs } from '../../schemas/mail/mails.schema.js';
import { email } from '../../schemas/shared/email.rules.js';
import {
  type Command,
  type CommandContext,
  type CommandInput,
  givenSecrets,
  Mistakes,
  main,
  required,
  table,
} from './command.js';
import { type RoleOption, rolesOf } from './roleOption.js';

/** Throws Mistakes. */
function addressOf({ args }: CommandInput): string {
  const [given = '', ...more] = args;
  const parsed = email.safeParse(given);
  if (!parsed.success || more.length > 0) throw new Mistakes(['name one email address']);
  return parsed.data;
}

/** Throws Mistakes when the merchant has no such user. */
async function userOf({ deps }: CommandContext, input: CommandInput): Promise<UserRow> {
  const [merchantId = ''] = required(input, ['merchant']);
  const address = addressOf(input);
  const user = await findUser(deps, { merchantId, email: address });
  if (!user) throw new Mistakes([`merchant ${merchantId} has no user ${address}`]);
  return user;
}

/** Returns the token of the link. */
async function showLink(
  { deps, config, say }: Pick<CommandContext, 'deps' | 'config' | 'say'>,
  { _id, email: address }: UserRow,
  worksForMs = config.SIGN_IN_LINK_MS,
): Promise<string> {
  const token = await createSignInLink(deps, { email: address, userIds: [_id], worksForMs });
  say(signInUrl(deps, token));
  const minutes = Math.round(worksForMs / 60_000);
  say(`works once, for ${minutes % 60 === 0 ? `${minutes / 60} hours` : `${minutes} minutes`}`);
  return token;
}

async function invite(context: CommandContext, input: CommandInput): Promise<void> {
  const { deps, say } = context;
  const [merchantId = ''] = required(input, ['merchant']);
  const mailDeps = mailsLinks(context) && { ...deps, secrets: givenSecrets(context) };
  const address = addressOf(input);
  const roleIds = await rolesOf(deps, { merchantId, input });
  const user = await createUser(context.audited([{ merchantId }], ['users']), {
    merchantId,
    email: address,
    roleIds,
    createdBy: 'operator',
    checkGrant: () => {},
  });
  say(`invited ${address} to merchant ${merchantId} as ${roleIds.join(', ')}`);
  const token = await showLink(context, user, invitationMs);
  if (!mailDeps) return;
  const { workflowClient } = context.temporal();
  await mailLink({ ...mailDeps, workflowClient }, { kind: 'invitation', users: [user], token, language: 'en' });
  say('the same link is mailed');
}

async function list({ deps, say }: CommandContext, input: CommandInput): Promise<void> {
  const [merchantId = ''] = required(input, ['merchant']);
  const rows = (await listUsers(deps, { merchantId })).map((user) => [
    user.email,
    user.roleIds.join(','),
    user.lastSignInAt?.toISOString() ?? 'never',
    user._id,
  ]);
  for (const line of table([['EMAIL', 'ROLES', 'LAST SIGN-IN', 'ID'], ...rows])) say(line);
}

async function remove(context: CommandContext, input: CommandInput): Promise<void> {
  const { _id: id, merchantId, email: address } = await userOf(context, input);
  const revokeKeys = input.values['revoke-keys'] === true;
  const deps = context.audited([{ merchantId }], ['users']);
  const { keys } = await removeUser(deps, { merchantId, id, revokeKeys, checkGrant: () => {} });
  context.say(`removed ${address} from merchant ${merchantId}; its sessions have ended`);
  for (const { _id, name } of keys) context.say(`${revokeKeys ? 'revoked' : 'still works:'} API key ${_id} (${name})`);
}

const merchant = { type: 'string' } as const;
const role: RoleOption = { type: 'string', multiple: true };

export const users: Command = {
  name: 'users',
  verbs: {
    invite: {
      usage: 'invite EMAIL --merchant ID --role ROLE...',
      does: 'makes a user and shows a sign-in link, once',
      example: 'invite ada@example.com --merchant corner-cafe --role owner',
      takesWords: true,
      options: { merchant, role },
      audit: 'user.create',
      run: invite,
    },
    link: {
      usage: 'link EMAIL --merchant ID',
      does: 'shows another sign-in link of a user',
      example: 'link ada@example.com --merchant corner-cafe',
      takesWords: true,
      options: { merchant },
      audit: 'user.link',
      run: async (context, input) => {
        const user = await userOf(context, input);
        const { merchantId, _id: targetId } = user;
        await showLink({ ...context, deps: context.audited([{ merchantId, targetId }], ['signInLinks']) }, user);
      },
    },
    list: {
      usage: 'list --merchant ID',
      does: 'shows the users of a merchant',
      example: 'list --merchant corner-cafe',
      options: { merchant },
      audit: null,
      run: list,
    },
    remove: {
      usage: 'remove EMAIL --merchant ID [--revoke-keys]',
      does: 'removes a user and ends its sessions, and shows or revokes its API keys; the last owner stays',
      example: 'remove ada@example.com --merchant corner-cafe --revoke-keys',
      takesWords: true,
      options: { merchant, 'revoke-keys': { type: 'boolean' } },
      audit: 'user.remove',
      run: remove,
    },
  },
};

if (process.argv[1]?.match(/commands\/users\.[jt]s$/)) await main(users);
