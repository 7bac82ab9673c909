// Identifies the caller (docs/interface.md#5-authentication). A user token wins over an API key in the same request,
// even when the token is invalid. Each request looks up its API key by hash, or the session of its token and its user,
// so a revoked key and an ended session fail at the next request.
import type { Context } from 'koa';
import { findRoles } from '../../activities/access/roles.writes.js';
import { extendSession, readSession, type SignedIn } from '../../activities/access/sessions.writes.js';
import { readerOf } from '../../activities/till/readers.writes.js';
import type { Actor } from '../../schemas/access/actor.schema.js';
import { isApiKey } from '../../schemas/access/apiKeys.schema.js';
import {
  builtInRoles,
  type Permission,
  permissionDenied,
  permissionsBeyond,
} from '../../schemas/access/permissions.schema.js';
import { isInside, parseCidrs } from '../../schemas/shared/addresses.rules.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { sha256 } from '../../schemas/shared/ids.js';
import { isReaderToken } from '../../schemas/till/readers.schema.js';
import type { ReaderRow } from '../../schemas/till/till.rows.js';
import type { ApiDeps } from './apiDeps.js';

export interface Caller {
  /** Key of the caller's rate limit. */
  id: string;
  merchantId: string;
  permissions: ReadonlySet<Permission>;
  credential: 'api-key' | 'bearer' | 'cookie' | 'reader';
  actor: Actor;
  /** Only for the device of a till. */
  reader?: ReaderRow;
  /** Only for a console session. */
  session?: {
    roleIds: string[];
    /** When the token ends; a session of the service may end sooner. */
    expiresAt: Date;
    /** Absent for a session of another console. */
    own?: SignedIn;
  };
}

export type Credential = { kind: 'bearer' | 'cookie' | 'api-key'; value: string } | null;

export function credentialOf(ctx: Context): Credential {
  const authorization = ctx.get('Authorization');
  const bearer = /^Bearer(?: +(.*))?$/i.exec(authorization);
  if (bearer) return { kind: 'bearer', value: bearer[1] ?? '' };
  const cookie = ctx.cookies.get('session');
  if (cookie) return { kind: 'cookie', value: cookie };
  const key = /^ApiKey +(\S+)$/i.exec(authorization)?.[1] ?? ctx.get('X-API-Key');
  if (key) return { kind: 'api-key', value: key };
  return null;
}

/** Throws PERMISSION_DENIED with the permission that is missing. */
export function requirePermission({ permissions }: Pick<Caller, 'permissions'>, permission: Permission): void {
  if (!permissions.has(permission)) throw permissionDenied([permission]);
}

/** Throws PERMISSION_DENIED with what is missing, unless the caller holds every permission that it gives to another. */
export function requireHeld({ permissions }: Pick<Caller, 'permissions'>, given: Iterable<Permission>): void {
  const beyond = permissionsBeyond(permissions, given);
  if (beyond.length > 0) throw permissionDenied(beyond);
}

/** The check of `requireHeld` for changes of roles and keys. */
export const checkGrantOf = (caller: Caller) => (permissions: Iterable<Permission>) => requireHeld(caller, permissions);

/** Throws AUTHENTICATION_REQUIRED, INVALID_TOKEN, INVALID_API_KEY, NETWORK_NOT_ALLOWED, UNAVAILABLE. */
export async function authenticate(deps: ApiDeps, credential: Credential, ip: string): Promise<Caller> {
  if (!credential) throw new ServiceError('AUTHENTICATION_REQUIRED');
  if (credential.kind === 'api-key') return keyCaller(deps, credential.value, ip);
  if (isReaderToken(credential.value)) return readerCaller(deps, credential.value);
  const claims = await deps.userTokens.verify(credential.value);
  if (!claims) throw new ServiceError('INVALID_TOKEN');
  const { sub, merchantId, sid, exp } = claims;
  const own = sid === undefined ? undefined : await ownSession(deps, { sid, merchantId, userId: sub });
  const roleIds = own?.user.roleIds ?? claims.roleIds;
  return {
    id: `user:${merchantId}:${sub}`,
    merchantId,
    permissions: await permissionsOf(deps, { merchantId, roleIds }),
    credential: credential.kind,
    actor: { type: 'user', id: sub },
    session: { roleIds, expiresAt: new Date(exp * 1000), ...(own && { own }) },
  };
}

/** Throws INVALID_TOKEN when the session has ended. */
async function ownSession(deps: ApiDeps, at: Parameters<typeof readSession>[1]): Promise<SignedIn> {
  const signedIn = await readSession(deps, at);
  if (!signedIn) throw new ServiceError('INVALID_TOKEN');
  extendSession(deps, signedIn.session);
  return signedIn;
}

async function keyCaller(deps: ApiDeps, key: string, ip: string): Promise<Caller> {
  const row = isApiKey(key) ? await deps.read.apiKey({ hash: sha256(key) }) : null;
  if (!row || row.revokedAt || (row.expiresAt && row.expiresAt <= deps.now()))
    throw new ServiceError('INVALID_API_KEY');
  const { _id, merchantId, roleIds, name, allowedNetworks } = row;
  if (allowedNetworks && !isInside(parseCidrs(allowedNetworks.join(' ')), ip))
    throw new ServiceError('NETWORK_NOT_ALLOWED');
  deps.noteKeyUse(row);
  return {
    id: `key:${_id}`,
    merchantId,
    permissions: await permissionsOf(deps, { merchantId, roleIds }),
    credential: 'api-key',
    actor: { type: 'api-key', id: _id, name },
  };
}

async function readerCaller(deps: ApiDeps, token: string): Promise<Caller> {
  const reader = await readerOf(deps, token);
  if (!reader) throw new ServiceError('INVALID_TOKEN');
  deps.noteReader(reader);
  const { _id, merchantId, name } = reader;
  return {
    id: `reader:${_id}`,
    merchantId,
    permissions: new Set(builtInRoles.till),
    credential: 'reader',
    actor: { type: 'reader', id: _id, name },
    reader,
  };
}

/**
 * All permissions of the caller's roles, as far as these belong to the merchant or to every merchant. Unknown roles are
 * ignored; roles are cached for one second.
 */
export async function permissionsOf(
  deps: ApiDeps,
  { merchantId, roleIds }: { merchantId: string; roleIds: string[] },
): Promise<ReadonlySet<Permission>> {
  const ids = [...new Set(roleIds)].sort();
  const roles = await deps.cached(`roles:${merchantId}:${ids.join(',')}`, () => findRoles(deps, { merchantId, ids }));
  return new Set((roles ?? []).flatMap((role) => role.permissions));
}

/**
 * The CSRF check of requests with a cookie: browsers also send the cookie with requests that other sites cause, so the
 * request must come from a page of the service itself. Throws CSRF_REJECTED.
 */
export function requireOwnPage(ctx: Context, publicUrl: string): void {
  const site = ctx.get('Sec-Fetch-Site');
  if (site === 'same-origin' || site === 'none') return;
  if (ctx.get('Origin') === new URL(publicUrl).origin) return;
  throw new ServiceError('CSRF_REJECTED');
}
