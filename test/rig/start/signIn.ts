// A person with a browser at the sign-in pages: users, their links, the button, and the session cookie.
import { createSignInLink } from '../../../activities/access/sessions.writes.js';
import { createUser } from '../../../activities/access/users.writes.js';
import type { Deps } from '../../../platform/deps.js';
import type { UserRow } from '../../../schemas/access/access.rows.js';
import { newToken } from '../../../schemas/shared/ids.js';
import type { TestService } from './service.js';

export const aUser = (
  deps: Deps,
  { merchantId, email = `${newToken(6)}@example.com`.toLowerCase(), roleIds = ['owner'] }: Partial<UserRow>,
): Promise<UserRow> =>
  createUser(deps, { merchantId: merchantId ?? '', email, roleIds, createdBy: 'test', checkGrant: () => {} });

export const aLink = (deps: Deps, ...users: UserRow[]): Promise<string> =>
  createSignInLink(deps, { email: users[0]?.email ?? '', userIds: users.map(({ _id }) => _id) });

/** The headers that a browser adds to a request of the service's own pages. */
const ownPage = { 'Sec-Fetch-Site': 'same-origin' };

export function press(
  { publicUrl }: Pick<TestService, 'publicUrl'>,
  token: string,
  { headers = ownPage, userId }: { headers?: Record<string, string>; userId?: string } = {},
): Promise<Response> {
  return fetch(`${publicUrl}/console/sign-in/${token}`, {
    method: 'POST',
    redirect: 'manual',
    headers,
    body: new URLSearchParams(userId === undefined ? {} : { userId }),
  });
}

/** The value of a cookie in the answer. */
export function cookieOf(answer: Response, name = 'session'): string | undefined {
  const found = answer.headers.getSetCookie().find((text) => text.startsWith(`${name}=`));
  return found?.slice(name.length + 1).split(';', 1)[0];
}

/** The headers of a request from a signed-in page. */
export async function signedIn(service: TestService, user: UserRow): Promise<Record<string, string>> {
  const answer = await press(service, await aLink(service.deps, user));
  return { Cookie: `session=${cookieOf(answer)}`, ...ownPage };
}
