// Endpoints: docs/interface.md#55-users-and-signing-in.
import { z } from 'zod';
import { heldKey } from './apiKeys.schema.js';
import { endpoint, pageOf, paging, queryFlag } from './endpoint.schema.js';
import { session, signInLinkRequest, user, userPatch, userRequest } from './users.schema.js';

const tag = 'Users';
const all = '/merchants/me/users';
const apiKeys = z.array(heldKey).describe('the keys that the user created and that were active before this call');
const keysToo = z.strictObject({ revokeKeys: queryFlag.optional() });
const ofKeys =
  'API keys that the user created go on working and are named; `revokeKeys=true` revokes them (`api-keys:delete`, console session).';
const signedOut = z.object({ signedOut: z.boolean().describe('false for a session of another console') });

export const userEndpoints = {
  listUsers: endpoint('get', all, {
    tag,
    summary: "List the merchant's users, in the order of their addresses",
    access: 'users:view',
    query: paging,
    result: pageOf(user),
  }),
  createUser: endpoint('post', all, {
    tag,
    summary: 'Invite a user',
    description:
      'The user signs in by a link that is mailed where mail is set up. Permissions that the caller does not hold are refused with 403.',
    access: 'users:edit',
    audit: { action: 'user.create', writes: ['users'] },
    body: userRequest,
    result: user,
    statuses: [201],
    errors: ['ROLE_NOT_FOUND', 'USER_EXISTS', 'USER_LIMIT_REACHED'],
    example: { email: 'ada@example.com', roleIds: ['manager'] },
  }),
  updateUser: endpoint('patch', `${all}/:id`, {
    tag,
    summary: 'Replace the roles of a user; they apply to running sessions at once',
    description: `Adding or taking away a role with permissions that the caller does not hold is refused with 403. ${ofKeys}`,
    access: 'users:edit',
    audit: { action: 'user.edit', writes: ['users'] },
    query: keysToo,
    body: userPatch,
    result: user.extend({ apiKeys }),
    errors: ['ROLE_NOT_FOUND', 'USER_NOT_FOUND', 'LAST_OWNER', 'CONSOLE_SESSION_REQUIRED'],
    example: { roleIds: ['viewer'] },
  }),
  deleteUser: endpoint('delete', `${all}/:id`, {
    tag,
    summary: 'Remove a user; its sessions end at once',
    description: `A user with permissions that the caller does not hold is refused with 403. ${ofKeys}`,
    access: 'users:edit',
    audit: { action: 'user.remove', writes: ['users'] },
    query: keysToo,
    result: z.object({ id: z.string(), deleted: z.literal(true), apiKeys }),
    errors: ['USER_NOT_FOUND', 'LAST_OWNER', 'CONSOLE_SESSION_REQUIRED'],
  }),
  getSession: endpoint('get', '/auth/session', {
    tag,
    summary: 'Who is signed in, for which merchant, with which permissions',
    description:
      'A page that writes with the cookie must be a page of this service. It needs no CSRF token, because browsers send the origin of a request.',
    access: 'session',
    session: true,
    result: session,
  }),
  signOut: endpoint('post', '/auth/sign-out', {
    tag,
    summary: 'End this session at once, and clear its cookie',
    access: 'session',
    audit: { action: 'user.sign-out', writes: ['sessions'], ofCaller: true },
    session: true,
    result: signedOut,
  }),
  signOutEverywhere: endpoint('post', '/auth/sign-out-everywhere', {
    tag,
    summary: 'End all sessions of this person at once, in every merchant, and void the unused sign-in links',
    access: 'session',
    audit: { action: 'user.sign-out-everywhere', writes: ['sessions'], ofCaller: true },
    session: true,
    result: signedOut,
  }),
  requestSignInLink: endpoint('post', '/auth/sign-in-links', {
    tag,
    summary: 'Request a mail with a sign-in link',
    description: 'The answer is the same for every address, whether it belongs to a user or not.',
    access: 'public',
    audit: { not: 'changes nothing until the link is used; a user shows when it was last' },
    body: signInLinkRequest,
    result: z.object({ accepted: z.literal(true) }),
    statuses: [202],
    example: { email: 'ada@example.com' },
  }),
};
