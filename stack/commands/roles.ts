// A role is a named set of permissions, either built in or defined by one merchant.
import { insert } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import { type Permission, permissions } from '../../schemas/access/permissions.schema.js';
import { newId } from '../../schemas/shared/ids.js';
import {
  type Command,
  type CommandContext,
  type CommandInput,
  Mistakes,
  main,
  nameGiven,
  required,
  table,
} from './command.js';

const isPermission = (word: string): word is Permission => permissions.some((permission) => permission === word);

async function create({ deps, audited, say }: CommandContext, input: CommandInput): Promise<void> {
  const [merchantId = ''] = required(input, ['merchant', 'name']);
  const name = nameGiven(input);
  const unknown = input.args.filter((word) => !isPermission(word));
  if (unknown.length > 0) throw new Mistakes(unknown.map((word) => `"${word}" is none of: ${permissions.join(', ')}`));
  const granted = [...new Set(input.args.filter(isPermission))];
  if (granted.length === 0) throw new Mistakes([`name at least one of: ${permissions.join(', ')}`]);
  const _id = newId();
  const row = { _id, merchantId, name, permissions: granted };
  await transact(audited([{ merchantId }], ['roles']), [insert(deps, 'roles', row)], 0);
  say(`created role ${_id} of merchant ${merchantId}`);
}

async function list({ deps, say }: CommandContext): Promise<void> {
  const roles = await deps.collections.roles.find().sort({ merchantId: 1, _id: 1 }).toArray();
  const rows = roles.map((role) => [role._id, role.merchantId ?? 'all', role.name, role.permissions.join(' ')]);
  for (const line of table([['ID', 'MERCHANT', 'NAME', 'PERMISSIONS'], ...rows])) say(line);
}

export const roles: Command = {
  name: 'roles',
  verbs: {
    create: {
      usage: 'create --merchant ID --name NAME PERMISSION...',
      does: 'makes a role of one merchant',
      example: 'create --merchant corner-cafe --name counter merchants.members:view till:use',
      takesWords: true,
      options: { merchant: { type: 'string' }, name: { type: 'string' } },
      audit: 'role.create',
      run: create,
    },
    list: { usage: 'list', does: 'shows all roles and what they permit', example: 'list', audit: null, run: list },
  },
};

if (process.argv[1]?.match(/commands\/roles\.[jt]s$/)) await main(roles);
