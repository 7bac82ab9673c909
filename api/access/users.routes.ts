// Users of a merchant, and the session of the caller (docs/interface.md#55-users-and-signing-in).
import type { HeldKey } from '../../activities/access/apiKeys.writes.js';
import { endSession, endSessionsOf } from '../../activities/access/sessions.writes.js';
import { changeRoles, listUsers, removeUser } from '../../activities/access/users.writes.js';
import { inviteUser, mailSignInLink } from '../../activities/mail/signInMails.writes.js';
import type { UserRow } from '../../schemas/access/access.rows.js';
import { heldKey } from '../../schemas/access/apiKeys.schema.js';
import type { userEndpoints } from '../../schemas/access/users.routes.js';
import { user } from '../../schemas/access/users.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { languageOf } from '../../schemas/shared/languages/index.js';
import { type Caller, checkGrantOf, requirePermission } from '../http/caller.reads.js';
import { pageOfRows } from '../http/page.reads.js';
import type { Routes } from '../http/request.js';
import { clearSessionCookie } from '../http/sessionCookie.rules.js';

const presentUser = (row: UserRow) => shown(user, row);

const presentHeldKey = (key: HeldKey) => shown(heldKey, key);

/** Keys are revoked by whom `DELETE /auth/api-keys/{id}` lets. Throws CONSOLE_SESSION_REQUIRED, PERMISSION_DENIED. */
function changeOf(
  caller: Caller,
  { id = '' }: Record<string, string>,
  { revokeKeys = false }: { revokeKeys?: boolean | undefined },
) {
  if (revokeKeys) {
    sessionOf(caller);
    requirePermission(caller, 'api-keys:delete');
  }
  return { merchantId: caller.merchantId, id, revokeKeys, checkGrant: checkGrantOf(caller) };
}

/** Throws CONSOLE_SESSION_REQUIRED. */
function sessionOf({ session }: Caller): NonNullable<Caller['session']> {
  if (!session) throw new ServiceError('CONSOLE_SESSION_REQUIRED');
  return session;
}

export const userRoutes: Routes<keyof typeof userEndpoints> = {
  async listUsers({ deps, caller, query }) {
    return { data: pageOfRows((await listUsers(deps, caller)).map(presentUser), query) };
  },

  async createUser({ deps, caller, body, ctx }) {
    const user = await inviteUser(deps, {
      merchantId: caller.merchantId,
      createdBy: caller.actor.id,
      language: languageOf({}, ctx.get('Accept-Language')),
      ...body,
      checkGrant: checkGrantOf(caller),
      maker: caller.session?.own?.user,
      invitedBy: caller.session?.own?.user.email,
    });
    return { data: presentUser(user) };
  },

  async updateUser({ deps, caller, params, query, body }) {
    const { user, keys } = await changeRoles(deps, { ...changeOf(caller, params, query), ...body });
    return { data: { ...presentUser(user), apiKeys: keys.map(presentHeldKey) } };
  },

  async deleteUser({ deps, caller, params, query }) {
    const { user, keys } = await removeUser(deps, changeOf(caller, params, query));
    return { data: { id: user._id, deleted: true, apiKeys: keys.map(presentHeldKey) } };
  },

  async getSession({ deps, caller }) {
    const { merchantId, actor, permissions } = caller;
    const { roleIds, expiresAt, own } = sessionOf(caller);
    const merchant = await deps.collections.merchants.findOne({ _id: merchantId }, { projection: { name: 1 } });
    return {
      data: {
        user: { id: actor.id, email: own?.user.email ?? null },
        merchant: { id: merchantId, name: merchant?.name ?? null },
        roleIds,
        permissions: [...permissions],
        endsAt: (own?.session.endsAt ?? expiresAt).toISOString(),
        canSignOut: own !== undefined,
      },
    };
  },

  async signOut({ deps, caller, ctx }) {
    const { own } = sessionOf(caller);
    if (own) await endSession(deps, own.session);
    clearSessionCookie(deps, ctx);
    return { data: { signedOut: own !== undefined } };
  },

  async signOutEverywhere({ deps, caller, ctx }) {
    const { own } = sessionOf(caller);
    if (own) await endSessionsOf(deps, own.user);
    clearSessionCookie(deps, ctx);
    return { data: { signedOut: own !== undefined } };
  },

  async requestSignInLink({ deps, body, ctx }) {
    mailSignInLink(deps, { ...body, language: languageOf({}, ctx.get('Accept-Language')) });
    return { data: { accepted: true } };
  },
};
