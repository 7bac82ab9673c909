// Who a person of the OpenID provider is here.
import type { Deps } from '../../platform/deps.js';
import type { UserRow } from '../../schemas/collections.js';
import { email } from '../../schemas/email.js';

export interface ProviderPerson {
  issuer: string;
  sub: string;
  /** Verified by the provider. */
  email?: string;
}

/**
 * The users who are known by this `sub`, and those with the person's verified address who have not signed in at a
 * provider before. A user who is known by another `sub` is somebody else, whatever the address.
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
