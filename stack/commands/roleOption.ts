// The option `--role ROLE`, given once or several times: the id or the name of a built-in role or a role of the
// merchant.
import { listRoles } from '../../activities/access/roles.writes.js';
import type { Deps } from '../../platform/deps.js';
import type { RoleRow } from '../../schemas/access/access.rows.js';
import { type CommandInput, Mistakes } from './command.js';

export interface RoleOption {
  type: 'string';
  multiple: true;
}

const plain = (name: string): string => name.normalize('NFC').trim().toLowerCase();

/** An id comes before names, so that no name hides a built-in role. */
function matching(roles: readonly RoleRow[], word: string): readonly RoleRow[] {
  const byId = roles.filter(({ _id }) => _id === plain(word));
  return byId.length > 0 ? byId : roles.filter(({ name }) => plain(name) === plain(word));
}

const listed = (roles: readonly RoleRow[]): string =>
  roles.map(({ _id, name, merchantId }) => (merchantId === null ? _id : `${name} (${_id})`)).join(', ');

/** The ids of the roles. Throws Mistakes when a role does not exist, or when several have the name. */
export async function rolesOf(
  deps: Deps,
  { merchantId, input }: { merchantId: string; input: CommandInput },
): Promise<string[]> {
  const { role } = input.values;
  const words = [...new Set((Array.isArray(role) ? role : []).map(String))];
  if (words.length === 0) throw new Mistakes(['--role is required']);
  const roles = await listRoles(deps, { merchantId });
  const found = words.map((word) => ({ word, matches: matching(roles, word) }));
  const mistakes = found.flatMap(({ word, matches }) => {
    if (matches.length === 0) return [`merchant ${merchantId} has no role "${word}"; its roles: ${listed(roles)}`];
    return matches.length > 1
      ? [`"${word}" is the name of several roles, say which by its id: ${listed(matches)}`]
      : [];
  });
  if (mistakes.length > 0) throw new Mistakes(mistakes);
  return [...new Set(found.flatMap(({ matches }) => matches.map(({ _id }) => _id)))];
}
