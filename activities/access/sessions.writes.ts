// Sign-in links and the sessions that they make. A session is a row that each request reads, so deleting the row ends
// it at once, and a change of its user's roles takes effect at once. Of a link, only the hash of its token is stored. A
// link works once (docs/decisions/sessions-and-sign-in-links.md).
import type { Deps } from '../../platform/deps.js';
import { removeOne } from '../../platform/mongodb/changeOne.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert, remove, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import type { AuditRow, SessionRow, SignInLinkRow, UserRow } from '../../schemas/access/access.rows.js';
import { newId, newToken, sha256 } from '../../schemas/shared/ids.js';

export interface SignedIn {
  session: SessionRow;
  user: UserRow;
}

interface NewLink {
  email: string;
  userIds: string[];
  identity?: UserRow['identity'];
  worksForMs?: number;
}

/** Returns the token of a new link; the token itself is not stored. */
export async function createSignInLink(
  deps: Deps,
  { email, userIds, identity, worksForMs = deps.config.SIGN_IN_LINK_MS }: NewLink,
): Promise<string> {
  const token = newToken();
  const row: SignInLinkRow = {
    _id: sha256(token),
    email,
    userIds,
    ...(identity && { identity }),
    expiresAt: new Date(deps.now().getTime() + worksForMs),
  };
  await transact(deps, [insert(deps, 'signInLinks', row)], 0);
  return token;
}

export const signInUrl = ({ config }: Pick<Deps, 'config'>, token: string): string =>
  `${config.PUBLIC_URL}/console/sign-in/${token}`;

/**
 * The link and the users that it can sign in; null when it is unknown, used or expired, or when none of its users
 * exists any more.
 */
export async function readSignInLink(
  deps: Deps,
  token: string,
): Promise<{ link: SignInLinkRow; users: UserRow[] } | null> {
  const link = await deps.collections.signInLinks.findOne({ _id: sha256(token) });
  if (!link || link.usedAt || link.expiresAt <= deps.now()) return null;
  const users = await deps.collections.users.find({ _id: { $in: link.userIds } }).toArray();
  return users.length > 0 ? { link, users } : null;
}

interface SignIn {
  token: string;
  /** Optional when the link is for one user. */
  userId?: string | undefined;
  /** For the audit. */
  from: Pick<AuditRow, 'address' | 'requestId'>;
}

/** Consumes the link for one of its users. Returns null when the link does not work. */
export async function signInByLink(deps: Deps, { token, userId, from }: SignIn): Promise<SignedIn | null> {
  return retryOnConflict(deps, async () => {
    const found = await readSignInLink(deps, token);
    const { link, users = [] } = found ?? {};
    const user = users.find(({ _id }) => _id === (userId ?? users[0]?._id));
    if (!link || !user || (userId === undefined && users.length > 1)) return null;
    if (link.identity && user.identity && user.identity.sub !== link.identity.sub) return null;
    const used = update(
      deps,
      'signInLinks',
      { _id: link._id, usedAt: { $exists: false } },
      { $set: { usedAt: deps.now() } },
    );
    return signIn(deps, user, { identity: link.identity, used, from });
  });
}

/** Creates a session. Throws VersionConflict when the link was used, or the user changed, since they were read. */
async function signIn(
  deps: Deps,
  user: UserRow,
  { identity, used, from }: { identity: UserRow['identity']; used: Statement; from: SignIn['from'] },
): Promise<SignedIn> {
  const now = deps.now();
  const session: SessionRow = {
    _id: newToken(),
    merchantId: user.merchantId,
    userId: user._id,
    createdAt: now,
    endsAt: endOf(deps, now),
  };
  const version = user.version + 1;
  const set = { lastSignInAt: now, version, ...(identity && { identity }) };
  const noted = update(deps, 'users', { _id: user._id, version: user.version }, { $set: set });
  const { merchantId, _id: targetId } = user;
  const audited = insert(deps, 'audit', {
    ...{ _id: newId(), merchantId, createdAt: now, targetId, ...from },
    actor: { type: 'user', id: targetId },
    action: 'user.sign-in',
  });
  await transact(deps, [used, noted, insert(deps, 'sessions', session), audited], 2);
  return { session, user: { ...user, ...set } };
}

/** When a session ends that began at `createdAt` and is used now. */
function endOf({ config, now }: Pick<Deps, 'config' | 'now'>, createdAt: Date): Date {
  const idle = now().getTime() + config.SESSION_IDLE_MS;
  return new Date(Math.min(idle, createdAt.getTime() + config.SESSION_MAX_MS));
}

/** Null when the session or its user has ended. */
export async function readSession(
  deps: Deps,
  { sid, merchantId, userId }: { sid: string; merchantId: string; userId: string },
): Promise<SignedIn | null> {
  const [session, user] = await Promise.all([
    deps.collections.sessions.findOne({ _id: sid, merchantId, userId }),
    deps.collections.users.findOne({ _id: userId, merchantId }),
  ]);
  return session && user && session.endsAt > deps.now() ? { session, user } : null;
}

const notedAfterMs = 60_000;

/** Extends a session that is in use: in the background, at most once a minute. */
export function extendSession(deps: Deps, { _id, merchantId, createdAt, endsAt }: SessionRow): void {
  const later = endOf(deps, createdAt);
  if (later.getTime() - endsAt.getTime() < notedAfterMs) return;
  deps.collections.sessions
    .updateOne({ _id, merchantId }, { $max: { endsAt: later } })
    .catch((error: unknown) => deps.log.debug({ err: error }, 'the use of a session was not noted'));
}

export async function endSession(deps: Deps, { _id, merchantId }: SessionRow): Promise<void> {
  await removeOne(deps, 'sessions', { _id, merchantId });
}

/**
 * Ends all sessions of the person in every merchant, and voids the person's links. Each merchant in which a session
 * ended has the audit of the request, about its user.
 */
export async function endSessionsOf(deps: Deps, { email }: { email: string }): Promise<void> {
  await retryOnConflict(deps, async () => {
    const users = await deps.collections.users.find({ email }, { projection: { merchantId: 1 } }).toArray();
    const userId = { $in: users.map(({ _id }) => _id) };
    const open = await deps.collections.sessions.find({ userId }, { projection: { userId: 1 } }).toArray();
    const ended = users.filter(({ _id }) => open.some((session) => session.userId === _id));
    const audit = (deps.audit ?? []).flatMap((pending) =>
      ended.map(({ _id: targetId, merchantId }) => {
        const actor = { ...pending.row.actor, id: targetId };
        return { ...pending, row: { ...pending.row, _id: newId(), merchantId, targetId, actor } };
      }),
    );
    await transact(
      { ...deps, audit },
      [remove(deps, 'sessions', { userId }), remove(deps, 'signInLinks', { email })],
      0,
    );
  });
}
