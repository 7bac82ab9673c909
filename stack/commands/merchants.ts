// Creates and lists merchants, suspends them, sets their limits, verifies their ledgers, exports and removes them.
// Merchants are managed outside of this service: most need no row here, and a row holds only the operator's settings.
import type { UpdateFilter } from 'mongodb';
import { verifyLedger } from '../../activities/points/verifyLedger.reads.js';
import { changeOne } from '../../platform/mongodb/changeOne.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { MerchantRow } from '../../schemas/access/access.rows.js';
import { type MerchantLimit, merchantLimits } from '../../schemas/access/merchantLimits.schema.js';
import { newId } from '../../schemas/shared/ids.js';
import { environment } from '../../schemas/shared/settings.schema.js';
import { type Command, type CommandContext, type CommandInput, Mistakes, main, nameGiven, table } from './command.js';
import { eraseAgain, listErasures } from './erasures.js';
import { exportMerchant, removeMerchant } from './merchantData.js';

const idForm = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

async function create({ deps, audited, say }: CommandContext, input: CommandInput): Promise<void> {
  const name = nameGiven(input);
  const _id = String(input.values.id ?? newId());
  if (!idForm.test(_id)) throw new Mistakes(['--id must be 1 to 64 letters, digits, _ or -']);
  const known = await deps.collections.merchants.findOne({ _id });
  if (known) throw new Mistakes([`merchant "${_id}" is there already: ${known.name}`]);
  const row = { _id, name, createdAt: deps.now() };
  await transact(audited([{ merchantId: _id }], ['merchants']), [insert(deps, 'merchants', row)], 0);
  say(`created merchant ${_id}`);
}

async function list({ deps, say }: CommandContext): Promise<void> {
  const merchants = await deps.collections.merchants.find().sort({ _id: 1 }).toArray();
  const rows = merchants.map(({ _id, name, createdAt, suspendedAt, limits = {} }) => [
    _id,
    createdAt.toISOString(),
    suspendedAt ? `suspended ${suspendedAt.toISOString()}` : 'active',
    Object.entries(limits)
      .map(([limit, max]) => `${limit}=${max}`)
      .join(' ') || 'default limits',
    name,
  ]);
  for (const line of table([['ID', 'CREATED', 'STATE', 'LIMITS', 'NAME'], ...rows])) say(line);
}

function oneId({ args }: CommandInput): string {
  const [id = '', ...rest] = args;
  if (!idForm.test(id) || rest.length > 0) throw new Mistakes(['name the id of one merchant']);
  return id;
}

/** Merchants are managed outside of this service, so a merchant without a row gets one with its id as its name. */
async function change({ deps, audited }: CommandContext, { id, set }: { id: string; set: UpdateFilter<MerchantRow> }) {
  const $setOnInsert = { name: id, createdAt: deps.now() };
  const statement = update(deps, 'merchants', { _id: id }, { ...set, $setOnInsert }, true);
  await transact(audited([{ merchantId: id }], ['merchants']), [statement], 1);
}

async function suspend(context: CommandContext, input: CommandInput): Promise<void> {
  const id = oneId(input);
  const { deps, say } = context;
  const known = await deps.collections.merchants.findOne({ _id: id });
  if (!known?.suspendedAt) await change(context, { id, set: { $set: { suspendedAt: deps.now() } } });
  say(`suspended ${id}: its keys and users get 403 MERCHANT_SUSPENDED, its deliveries wait`);
}

async function resume({ audited, say }: CommandContext, input: CommandInput): Promise<void> {
  const id = oneId(input);
  const suspended = { _id: id, suspendedAt: { $exists: true } };
  await changeOne(audited([{ merchantId: id }], ['merchants']), 'merchants', suspended, {
    $unset: { suspendedAt: '' },
  });
  say(`resumed ${id}: what waited is delivered within ten minutes`);
}

const limitNames = Object.keys(merchantLimits) as MerchantLimit[];

async function limit(context: CommandContext, input: CommandInput): Promise<void> {
  const id = oneId(input);
  const wishes = limitNames.flatMap((name) => {
    const value = input.values[name];
    return value === undefined ? [] : [{ name, value: String(value) }];
  });
  if (wishes.length === 0)
    throw new Mistakes([`name at least one of: ${limitNames.map((name) => `--${name}`).join(', ')}`]);
  const wrong = wishes.flatMap(({ name, value }) => {
    const { error } = environment.shape[merchantLimits[name]].safeParse(value);
    return value === 'default' || !error ? [] : error.issues.map(({ message }) => `--${name} ${message}, or "default"`);
  });
  if (wrong.length > 0) throw new Mistakes(wrong);
  const entries = (isDefault: boolean) =>
    wishes
      .filter(({ value }) => (value === 'default') === isDefault)
      .map(({ name, value }) => [`limits.${name}`, isDefault ? '' : Number(value)]);
  const [$set, $unset] = [Object.fromEntries(entries(false)), Object.fromEntries(entries(true))];
  await change(context, {
    id,
    set: { ...(Object.keys($set).length > 0 && { $set }), ...(Object.keys($unset).length > 0 && { $unset }) },
  });
  context.say(`changed the limits of ${id}: ${wishes.map(({ name, value }) => `${name}=${value}`).join(' ')}`);
}

async function audit({ deps, say }: CommandContext, input: CommandInput): Promise<void> {
  const id = oneId(input);
  let [members, differing] = [0, 0];
  for await (const group of verifyLedger(deps, id)) {
    members += group.members;
    differing += new Set(group.differences.map(({ memberId }) => memberId)).size;
    for (const { memberId, memberCode, field, has, sum } of group.differences)
      say(`${memberId} (${memberCode}): ${field} is ${has}, its ledger adds up to ${sum}`);
  }
  if (differing > 0) throw new Mistakes([`${differing} of ${members} members differ from their ledger`]);
  say(`${members} members, and the ledger of each adds up to what it has`);
}

async function exportData(context: CommandContext, input: CommandInput): Promise<void> {
  const { to } = input.values;
  await exportMerchant(context, { merchantId: oneId(input), ...(to !== undefined && { to: String(to) }) });
}

async function remove(context: CommandContext, input: CommandInput): Promise<void> {
  const id = oneId(input);
  if (input.values.yes !== true) throw new Mistakes([`--yes is required: it removes all that is kept of ${id}`]);
  await removeMerchant(context, id);
  context.say(`removed ${id}; its id stays suspended, so that nobody goes on with it`);
}

export const merchants: Command = {
  name: 'merchants',
  verbs: {
    create: {
      usage: 'create --name NAME [--id ID]',
      does: 'notes a merchant under the id that the console knows it by',
      example: "create --name 'Corner Café' --id corner-cafe",
      options: { name: { type: 'string' }, id: { type: 'string' } },
      audit: 'merchant.create',
      run: create,
    },
    list: { usage: 'list', does: 'shows all merchants', example: 'list', audit: null, run: list },
    suspend: {
      usage: 'suspend ID',
      does: 'refuses all requests of a merchant and lets its deliveries wait; passes on phones go on',
      example: 'suspend corner-cafe',
      takesWords: true,
      audit: 'merchant.suspend',
      run: suspend,
    },
    resume: {
      usage: 'resume ID',
      does: 'ends a suspension',
      example: 'resume corner-cafe',
      takesWords: true,
      audit: 'merchant.resume',
      run: resume,
    },
    limit: {
      usage: `limit ID ${limitNames.map((name) => `[--${name} N]`).join(' ')}`,
      does: 'gives one merchant other limits than the settings; "default" gives it the setting again',
      example: 'limit corner-cafe --campaignsADay 10 --runningBatches default',
      takesWords: true,
      options: Object.fromEntries(limitNames.map((name) => [name, { type: 'string' as const }])),
      audit: 'merchant.limit',
      run: limit,
    },
    export: {
      usage: 'export ID [--to FILE]',
      does: 'writes all that is kept of a merchant as lines of JSON, without secrets; into a FILE it goes on where it stopped',
      example: 'export corner-cafe --to merchant.jsonl',
      takesWords: true,
      audit: null,
      options: { to: { type: 'string' } },
      run: exportData,
    },
    remove: {
      usage: 'remove ID --yes',
      does: 'removes a merchant with its programs, members and everything else; run it again when it was interrupted',
      example: 'remove corner-cafe --yes',
      takesWords: true,
      audit: 'merchant.remove',
      options: { yes: { type: 'boolean' } },
      run: remove,
    },
    erasures: {
      usage: 'erasures [--since INSTANT]',
      does: 'lists erased members by their ids, to be kept apart from backups',
      example: 'erasures --since 2026-11-23T00:00:00Z',
      audit: null,
      options: { since: { type: 'string' } },
      run: listErasures,
    },
    're-erase': {
      usage: 're-erase FILE',
      does: 'erases the members again that the lines of FILE name, after a backup was restored',
      example: 're-erase erasures.jsonl',
      takesWords: true,
      audit: 'member.erase',
      run: eraseAgain,
    },
    audit: {
      usage: 'audit ID',
      does: 'compares each member of a merchant with the sum of its ledger; exit code 1 when one differs',
      example: 'audit corner-cafe',
      takesWords: true,
      audit: null,
      run: audit,
    },
  },
};

if (process.argv[1]?.match(/commands\/merchants\.[jt]s$/)) await main(merchants);
