// Creates and lists merchants. The console owns the merchants; a row here only gives a merchant a name for operators,
// and no other code depends on that row.
import { newId } from '../../schemas/ids.js';
import { type Command, type CommandContext, type CommandInput, Mistakes, main, required, table } from './command.js';

const idForm = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

async function create({ deps, say }: CommandContext, input: CommandInput): Promise<void> {
  const [name = ''] = required(input, ['name']);
  const _id = String(input.values.id ?? newId());
  if (!idForm.test(_id)) throw new Mistakes(['--id must be 1 to 64 letters, digits, _ or -']);
  const known = await deps.collections.merchants.findOne({ _id });
  if (known) throw new Mistakes([`merchant "${_id}" is there already: ${known.name}`]);
  await deps.collections.merchants.insertOne({ _id, name, createdAt: deps.now() });
  say(`created merchant ${_id}`);
}

async function list({ deps, say }: CommandContext): Promise<void> {
  const merchants = await deps.collections.merchants.find().sort({ _id: 1 }).toArray();
  const rows = merchants.map(({ _id, name, createdAt }) => [_id, createdAt.toISOString(), name]);
  for (const line of table([['ID', 'CREATED', 'NAME'], ...rows])) say(line);
}

export const merchants: Command = {
  name: 'merchants',
  verbs: {
    create: {
      usage: 'create --name NAME [--id ID]',
      does: 'notes a merchant under the id that the console knows it by',
      options: { name: { type: 'string' }, id: { type: 'string' } },
      run: create,
    },
    list: { usage: 'list', does: 'shows all merchants', run: list },
  },
};

if (process.argv[1]?.match(/commands\/merchants\.[jt]s$/)) await main(merchants);
