// Applies programs from files. All files are checked before the first write: one mistake in any file, and nothing is
// changed.
import { readFileSync } from 'node:fs';
import { WorkflowIdConflictPolicy } from '@temporalio/client';
import { withExpiry } from '../../activities/programs/expirySince.js';
import { imagesBeyondLimit } from '../../activities/programs/imageQuota.js';
import { type TemplateProblem, templateProblems } from '../../activities/wallets/apple/templateCheck.js';
import type { Deps } from '../../platform/deps.js';
import { remove, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import { toError } from '../../platform/toError.js';
import { expireId, newId } from '../../schemas/ids.js';
import { type Program, programFile } from '../../schemas/programs.js';
import { taskQueues, type WorkflowInputs } from '../../schemas/workflows.js';
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
      ...(program.expiry ? [] : [remove(deps, 'expiries', { _id })]),
      update(deps, 'classUpdates', { _id }, { $set: { merchantId: program.merchantId, revision: newId() } }, true),
    ];
  });
  await transact(deps, statements, 0);
  // Their rules count from now on.
  for (const { program } of checked) await withExpiry(deps, program);
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

const momentForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

function momentOf(text: string): number {
  const at = momentForm.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new Mistakes(['--at must be a time with its offset, such as 2027-01-01T00:00:00Z']);
  return at;
}

/** Does what the schedule does then, by the same workflow. Points that expired ahead of time do not come back. */
async function expire(context: CommandContext, { values, args }: CommandInput): Promise<void> {
  const { deps, isDevelopment, say } = context;
  const [programId, ...rest] = args;
  if (programId === undefined || rest.length > 0) throw new Mistakes(['name the id of one program']);
  if (!isDevelopment)
    throw new Mistakes([
      'is for development only: the stack of npm start, or NODE_ENV=development; nothing was changed',
    ]);
  const at = values.at === undefined ? undefined : momentOf(String(values.at));
  const program = await deps.collections.programs.findOne({ _id: programId }, { projection: { expiry: 1 } });
  if (!program) throw new Mistakes([`there is no program "${programId}"; nothing was changed`]);
  if (!program.expiry) throw new Mistakes([`the points of "${programId}" do not expire; nothing was changed`]);
  const input: WorkflowInputs['expirePoints'] = { programId, ...(at !== undefined && { at }) };
  const { expired } = await context
    .temporal()
    .client.workflow.execute<(input: WorkflowInputs['expirePoints']) => Promise<{ expired: number }>>('expirePoints', {
      workflowId: expireId(programId, at ?? 'now'),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      workflowExecutionTimeout: '1h',
      taskQueue: taskQueues.workflows,
      args: [input],
    });
  say(`points of ${expired} ${expired === 1 ? 'member' : 'members'} of ${programId} expired`);
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
    expire: {
      usage: 'expire ID [--at INSTANT]',
      does: 'expires what is over now, or at INSTANT; refused outside development',
      options: { at: { type: 'string' } },
      run: expire,
    },
    list: { usage: 'list', does: 'shows all programs', run: list },
  },
};

if (process.argv[1]?.match(/commands\/programs\.[jt]s$/)) await main(programs);
