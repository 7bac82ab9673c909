// The option `--role ROLE`, given once or several times. Only built-in roles and roles of the merchant are accepted.
import { findRoles } from '../../activities/access/roles.js';
import type { Deps } from '../../platform/deps.js';
import { type CommandInput, Mistakes } from './command.js';

export interface RoleOption {
  type: 'string';
  multiple: true;
}

/** Throws Mistakes when a role does not exist. */
export async function rolesOf(
  deps: Deps,
  { merchantId, input }: { merchantId: string; input: CommandInput },
): Promise<string[]> {
  const { role } = input.values;
  const ids = [...new Set((Array.isArray(role) ? role : []).map(String))];
  if (ids.length === 0) throw new Mistakes(['--role is required']);
  const known = await findRoles(deps, { merchantId, ids });
  const unknown = ids.filter((id) => !known.some(({ _id }) => _id === id));
  if (unknown.length > 0) throw new Mistakes(unknown.map((id) => `merchant ${merchantId} has no role "${id}"`));
  return ids;
}
