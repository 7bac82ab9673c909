// `--role ROLE`, given once or more: roles that the merchant can see.
import type { Store } from '../../activities/deps.js';
import { type Given, Mistakes } from './command.js';

export interface RoleOption {
  type: 'string';
  multiple: true;
}

/** Throws Mistakes. */
export async function rolesOf(
  store: Store,
  { merchantId, given }: { merchantId: string; given: Given },
): Promise<string[]> {
  const { role } = given.values;
  const ids = [...new Set((Array.isArray(role) ? role : []).map(String))];
  if (ids.length === 0) throw new Mistakes(['--role is required']);
  const known = await store.rows.roles.find({ _id: { $in: ids }, merchantId: { $in: [merchantId, null] } }).toArray();
  const unknown = ids.filter((id) => !known.some(({ _id }) => _id === id));
  if (unknown.length > 0) throw new Mistakes(unknown.map((id) => `merchant ${merchantId} has no role "${id}"`));
  return ids;
}
