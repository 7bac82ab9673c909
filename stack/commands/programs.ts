// Applies programs from files. All files are checked before the first write: one mistake in any file, and nothing is
// changed.
import { readFileSync } from 'node:fs';
import { imagesBeyondLimit } from '../../activities/programs/imageQuota.js';
import { type TemplateProblem, templateProblems } from '../../activities/wallets/apple/templateCheck.js';
import type { Deps } from '../../platform/deps.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import { toError } from '../../platform/toError.js';
import { newId } from '../../schemas/ids.js';
import { type Program, programFile } from '../../schemas/programs.js';
import { demoMerchantId } from '../demo.js';
import { type Command, type CommandContext, type CommandInput, Mistakes, main, table } from './command.js';

interface Found {
  /** The file, and the position in the file when it holds several programs. */
  where: string;
  value: unknown;
}

function readPrograms(path: string): { found: Found[]; mistakes: string[] } {
  try {
    const json: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!Array.isArray(json)) return { found: [{ where: path, value: json }], mistakes: [] };
    return { found: json.map((value: unknown, index) => ({ where: `${path}[${index}]`, value })), mistakes: [] };
  } catch (error) {
    return { found: [], mistakes: [`${path}: ${toError(error).message}`] };
  }
}

interface Checked {
  where: string;
  program: Program;
}

function check({ where, value }: Found, merchantId: string): { checked: Checked[]; mistakes: string[] } {
  const parsed = programFile.safeParse(value);
  if (!parsed.success) {
    const mistakes = parsed.error.issues.flatMap((issue) => {
      const path = issue.path.join('.');
      if (issue.code === 'unrecognized_keys')
        return issue.keys.map((key) => `${where}: ${[path, key].filter(Boolean).join('.')} is not a known field`);
      return [`${where}: ${path || 'the program'} ${issue.message}`];
    });
    return { checked: [], mistakes };
  }
  const program: Program = { ...parsed.data, merchantId: parsed.data.merchantId ?? merchantId };
  const mistakes = templateProblems(program).map(
    ({ path, message }: TemplateProblem) =>
      `${where}: ${path.startsWith('passTemplate') ? path : `passTemplate.${path}`} ${message}`,
  );
  return { checked: [{ where, program }], mistakes };
}

function repeated(checked: Checked[], field: '_id' | 'slug'): string[] {
  const first = new Map<string, string>();
  return checked.flatMap(({ where, program }) => {
    const value = program[field];
    const before = first.get(value);
    if (before !== undefined) return [`${where}: ${field} "${value}" is that of ${before}, too`];
    first.set(value, where);
    return [];
  });
}

/** The checks that need the database: ids of other merchants and slugs of other programs. */
async function taken(deps: Deps, checked: Checked[]): Promise<string[]> {
  const programs = checked.map(({ program }) => program);
  const ids = programs.map(({ _id }) => _id);
  const known = await deps.collections.programs
    .find({ $or: [{ _id: { $in: ids } }, { slug: { $in: programs.map(({ slug }) => slug) } }] })
    .toArray();
  return checked.flatMap(({ where, program }) =>
    known.flatMap((other) => {
      if (other._id === program._id && other.merchantId !== program.merchantId)
        return [`${where}: _id "${program._id}" is a program of merchant ${other.merchantId}`];
      // A program that is applied in the same call may give up its slug.
      if (other.slug === program.slug && other._id !== program._id && !ids.includes(other._id))
        return [`${where}: slug "${program.slug}" is that of program ${other._id}`];
      return [];
    }),
  );
}

async function tooManyImages(deps: Deps, checked: Checked[]): Promise<string[]> {
  const programs = checked.map(({ program }) => program);
  const merchantIds = [...new Set(programs.map(({ merchantId }) => merchantId))];
  const found = await Promise.all(
    merchantIds.map((merchantId) =>
      imagesBeyondLimit(deps, {
        merchantId,
        programs: programs.filter((program) => program.merchantId === merchantId),
      }),
    ),
  );
  return found.filter((mistake) => mistake !== null);
}

async function apply({ deps, say }: CommandContext, { values, args }: CommandInput): Promise<void> {
  if (args.length === 0) throw new Mistakes(['name at least one file']);
  const merchantId = String(values.merchant ?? demoMerchantId);
  const files = args.map(readPrograms);
  const results = files.flatMap(({ found }) => found).map((one) => check(one, merchantId));
  const checked = results.flatMap((result) => result.checked);
  const mistakes = [...files, ...results].flatMap((result) => result.mistakes);
  mistakes.push(...repeated(checked, '_id'), ...repeated(checked, 'slug'), ...(await taken(deps, checked)));
  mistakes.push(...(await tooManyImages(deps, checked)));
  if (mistakes.length > 0) throw new Mistakes([...mistakes, 'nothing was changed']);
  if (checked.length === 0) throw new Mistakes(['the files hold no program; nothing was changed']);

  const { namespace } = deps.collections.programs;
  const statements = checked.flatMap(({ program }): Statement[] => {
    const { _id, ...replacement } = program;
    return [
      { namespace, name: 'replaceOne', filter: { _id }, replacement, upsert: true },
      update(deps, 'classUpdates', { _id }, { $set: { merchantId: program.merchantId, revision: newId() } }, true),
    ];
  });
  await transact(deps, statements, 0);
  for (const { program } of checked)
    say(`applied ${program._id} (${program.style}, slug ${program.slug}) of merchant ${program.merchantId}`);
}

async function archive({ deps, say }: CommandContext, { args }: CommandInput): Promise<void> {
  if (args.length === 0) throw new Mistakes(['name the id of a program']);
  const known = await deps.collections.programs.find({ _id: { $in: args } }, { projection: { _id: 1 } }).toArray();
  const unknown = args.filter((id) => !known.some(({ _id }) => _id === id));
  if (unknown.length > 0) throw new Mistakes(unknown.map((id) => `there is no program "${id}"; nothing was changed`));
  await updateByIds(deps, 'programs', { ids: args, change: { $set: { archived: true } } });
  for (const id of args) say(`archived ${id}: nobody can be enrolled into it any more`);
}

async function list({ deps, say }: CommandContext): Promise<void> {
  const programs = await deps.collections.programs.find().sort({ merchantId: 1, _id: 1 }).toArray();
  const rows = programs.map(({ _id, merchantId, style, slug, archived, name }) => [
    _id,
    merchantId,
    style,
    slug,
    archived ? 'archived' : 'open',
    name,
  ]);
  for (const line of table([['ID', 'MERCHANT', 'STYLE', 'SLUG', 'STATE', 'NAME'], ...rows])) say(line);
}

const merchant = { merchant: { type: 'string' } } as const;

export const programs: Command = {
  name: 'programs',
  verbs: {
    apply: {
      usage: 'apply FILE... [--merchant ID]',
      does: 'makes or replaces the programs of these JSON files; a file holds one or an array of them',
      options: merchant,
      run: apply,
    },
    archive: { usage: 'archive ID...', does: 'closes programs for new members', run: archive },
    list: { usage: 'list', does: 'shows all programs', run: list },
  },
};

if (process.argv[1]?.match(/commands\/programs\.[jt]s$/)) await main(programs);
