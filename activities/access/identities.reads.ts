// Maps a person of the OpenID provider to users.
import type { Deps } from '../../platform/deps.js';
import type { UserRow } from '../../schemas/access/access.rows.js';
import { email } from '../../schemas/shared/email.rules.js';

export interface ProviderPerson {
  issuer: string;
  sub: string;
  /** Verified by the provider. */
  email?: string;
}

/**
 * The users with this `sub`, and the users with the person's verified address who have not signed in through a provider
 * before. A user with another `sub` is a different person, even with the same address.
 */
export async function identify(deps: Deps, person: ProviderPerson): Promise<UserRow[]> {
  const { users } = deps.collections;
  const { issuer, sub } = person;
  const address = email.safeParse(person.email).data;
  const [known, invited] = await Promise.all([
    users.find({ 'identity.sub': sub, 'identity.issuer': issuer }).toArray(),
    address === undefined ? [] : users.find({ email: address, identity: { $exists: false } }).toArray(),
  ]);
  return [...known, ...invited];
}
