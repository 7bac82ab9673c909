// Creates the first API key of a merchant, and revokes one that leaked; merchants manage their keys in the console. The
// plain key is printed once, and only its hash is stored.
import { createApiKey, revokeApiKey } from '../../activities/access/apiKeys.writes.js';
import { isCidr } from '../../schemas/shared/addresses.rules.js';
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
import { type RoleOption, rolesOf } from './roleOption.js';

async function create({ deps, audited, say }: CommandContext, input: CommandInput): Promise<void> {
  const [merchantId = ''] = required(input, ['merchant', 'name']);
  const name = nameGiven(input);
  const { expires, network, user = 'operator' } = input.values;
  const networks = Array.isArray(network) ? network.map(String) : [];
  const wrong = networks.filter((entry) => !isCidr(entry));
  if (wrong.length > 0) throw new Mistakes(wrong.map((entry) => `--network ${entry} is no address or CIDR`));
  const expiresAt = new Date(String(expires));
  if (expires !== undefined && !(expiresAt.getTime() <= Date.parse('9999-12-31')))
    throw new Mistakes(['--expires must be a date, as 2030-01-31']);
  if (expires !== undefined && expiresAt <= deps.now()) throw new Mistakes(['--expires must be in the future']);
  const { key, row } = await createApiKey(audited([{ merchantId }], ['apiKeys']), {
    merchantId,
    name,
    createdBy: String(user),
    roleIds: await rolesOf(deps, { merchantId, input }),
    checkGrant: () => {},
    ...(networks.length > 0 && { allowedNetworks: networks }),
    ...(expires !== undefined && { expiresAt: expiresAt.toISOString() }),
  });
  say(key);
  say(`key ${row._id} of merchant ${merchantId}; it is not shown again`);
}

async function list({ deps, say }: CommandContext, input: CommandInput): Promise<void> {
  const [merchantId = ''] = required(input, ['merchant']);
  const keys = await deps.collections.apiKeys.find({ merchantId }).sort({ createdAt: -1 }).toArray();
  const rows = keys.map((key) => [
    key._id,
    key.keyPrefix,
    key.roleIds.join(','),
    key.revokedAt ? 'revoked' : (key.expiresAt?.toISOString() ?? 'no end'),
    key.lastUsedAt?.toISOString() ?? 'never',
    key.name,
  ]);
  for (const line of table([['ID', 'PREFIX', 'ROLES', 'UNTIL', 'LAST USED', 'NAME'], ...rows])) say(line);
}

async function revoke({ deps, audited, say }: CommandContext, input: CommandInput): Promise<void> {
  const [merchantId = ''] = required(input, ['merchant']);
  const [id, ...others] = input.args;
  if (id === undefined || others.length > 0) throw new Mistakes(['say which key by its id; `list` shows the ids']);
  const key = await deps.collections.apiKeys.findOne({ _id: id, merchantId });
  if (!key) throw new Mistakes([`merchant ${merchantId} has no key ${id}`]);
  if (!key.revokedAt) await revokeApiKey(audited([{ merchantId }], ['apiKeys']), { merchantId, id });
  say(`key ${id} of merchant ${merchantId} is revoked`);
}

const role: RoleOption = { type: 'string', multiple: true };

export const keys: Command = {
  name: 'keys',
  verbs: {
    create: {
      usage: 'create --merchant ID --name NAME --role ROLE... [--user ID] [--expires DATE] [--network CIDR...]',
      does: 'makes an API key and shows it, once',
      example: 'create --merchant corner-cafe --name shop --role integration',
      options: {
        merchant: { type: 'string' },
        name: { type: 'string' },
        role,
        user: { type: 'string' },
        expires: { type: 'string' },
        network: { type: 'string', multiple: true },
      },
      audit: 'api-key.create',
      run: create,
    },
    list: {
      usage: 'list --merchant ID',
      does: 'shows the keys of a merchant',
      example: 'list --merchant corner-cafe',
      options: { merchant: { type: 'string' } },
      audit: null,
      run: list,
    },
    revoke: {
      usage: 'revoke ID --merchant ID',
      does: 'ends a key at once',
      example: 'revoke 0b6f1c0e --merchant corner-cafe',
      takesWords: true,
      options: { merchant: { type: 'string' } },
      audit: 'api-key.revoke',
      run: revoke,
    },
  },
};

if (process.argv[1]?.match(/commands\/keys\.[jt]s$/)) await main(keys);
