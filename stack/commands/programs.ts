// Applies programs from files: edits and publishes them, as the console does. All files are checked before the first
// write, so a mistake in any file prevents all changes.
import { readFileSync } from 'node:fs';
import { WorkflowIdConflictPolicy } from '@temporalio/client';
import { z } from 'zod';
import { startStored } from '../../activities/batches/startBatch.effect.js';
import { applyPrograms, readHeads } from '../../activities/programs/applyPrograms.writes.js';
import { checkProgram, mailFindings } from '../../activities/programs/checkContent.rules.js';
import { imagesBeyondLimit } from '../../activities/programs/imageQuota.reads.js';
import { expirationFindings } from '../../activities/programs/passExpiration.rules.js';
import { findProgramKey } from '../../activities/programs/program.reads.js';
import { hasMembers } from '../../activities/programs/programMembers.reads.js';
import type { Deps } from '../../platform/deps.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import { toError } from '../../platform/toError.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { expireId, programIdOf } from '../../schemas/shared/ids.js';
import { taskQueues, type WorkflowInputs } from '../../schemas/tables/workflows.js';
import { demoMerchantId } from '../demo.js';
import { fileMistake } from '../systemError.js';
import {
  type Command,
  type CommandContext,
  type CommandInput,
  Mistakes,
  main,
  reachTemporal,
  table,
} from './command.js';
import { programNamed } from './programNamed.js';

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
    return { found: [], mistakes: [`${path}: ${fileMistake(error, 'it') ?? `is no JSON: ${toError(error).message}`}`] };
  }
}

interface Checked {
  where: string;
  program: Program;
}

/** `merchantId` applies where a program names none; a program that names another than `option` is refused. */
async function check(
  { where, value }: Found,
  { merchantId = '', option }: { merchantId: string | undefined; option: string | undefined },
): Promise<{ checked: Checked[]; mistakes: string[] }> {
  const result = await checkProgram(value, merchantId);
  if (!result.ok)
    return {
      checked: [],
      mistakes: result.mistakes.map(({ path, message }) => `${where}: ${path || 'the program'} ${message}`),
    };
  const { program } = result;
  if (option !== undefined && program.merchantId !== option)
    return { checked: [], mistakes: [`${where}: merchantId is "${program.merchantId}", but --merchant "${option}"`] };
  if (program.merchantId !== '') return { checked: [{ where, program }], mistakes: [] };
  const missing = `${where}: merchantId is required, here or as --merchant: there are more merchants than the demo's`;
  return { checked: [], mistakes: [missing] };
}

/**
 * The merchant of programs that name none: the demo's, as long as nothing of another is stored or given. A merchant
 * that a console signs in needs no row of its own.
 */
async function soleMerchant({ collections }: Deps, given: readonly Found[]): Promise<string | undefined> {
  const others = { merchantId: { $ne: demoMerchantId } };
  const idOnly = { projection: { _id: 1 } };
  const found = await Promise.all([
    collections.merchants.findOne({ _id: { $ne: demoMerchantId } }, idOnly),
    collections.programs.findOne(others, idOnly),
    collections.programDrafts.findOne(others, idOnly),
    collections.apiKeys.findOne(others, idOnly),
    collections.users.findOne(others, idOnly),
  ]);
  const namesAnother = given.some(({ value }) => ![undefined, demoMerchantId].includes(Object(value).merchantId));
  return namesAnother || found.some((row) => row !== null) ? undefined : demoMerchantId;
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

/** The checks that need the database: ids of other merchants, slugs of other programs, and styles in use. */
async function refused({ deps, config, mailFolder }: CommandContext, checked: Checked[]): Promise<string[]> {
  const programs = checked.map(({ program }) => program);
  const slugs = await deps.collections.slugs.find({ _id: { $in: programs.map(({ slug }) => slug) } }).toArray();
  const heads = await readHeads(deps, programs);
  const mistakes = checked.map(async ({ where, program }) => {
    const head = heads.get(program._id);
    if (head && head.merchantId !== program.merchantId)
      return [`${where}: _id "${program._id}" is a program of merchant ${head.merchantId}`];
    const owner = slugs.find(({ _id, givenUpAt }) => _id === program.slug && !givenUpAt)?.programId;
    // A program that is applied in the same call may release its slug.
    if (owner !== undefined && owner !== program._id && !programs.some(({ _id }) => _id === owner))
      return [`${where}: slug "${program.slug}" is that of program ${owner}`];
    if (head?.live && head.live.style !== program.style && (await hasMembers(deps, head)))
      return [`${where}: style is ${head.live.style} and cannot change: the program has members`];
    return [
      ...expirationFindings({ live: head?.live ?? null, next: program, now: deps.now() }),
      ...mailFindings({ ...config, MAIL_FOLDER: mailFolder }, program),
    ]
      .filter(({ severity }) => severity === 'error')
      .map(({ path, message }) => `${where}: ${path} ${message}`);
  });
  return (await Promise.all(mistakes)).flat();
}

async function tooManyImages(deps: Deps, checked: Checked[]): Promise<string[]> {
  const programs = checked.map(({ program }) => program);
  const merchantIds = [...new Set(programs.map(({ merchantId }) => merchantId))];
  const found = await Promise.all(
    merchantIds.map((merchantId) =>
      imagesBeyondLimit(deps, {
        merchantId,
        programs: programs
          .filter((program) => program.merchantId === merchantId)
          .map((program) => ({ ...program, live: null })),
      }),
    ),
  );
  return found.filter((mistake) => mistake !== null);
}

/** With the keys of those that are stored. */
const keyed = (deps: Deps, checked: readonly Checked[]): Promise<Checked[]> =>
  Promise.all(
    checked.map(async ({ where, program }) => {
      const { _id, merchantId } = program;
      return {
        where,
        program: { ...program, _id: (await findProgramKey(deps, { merchantId, programId: _id })) ?? _id },
      };
    }),
  );

const operator = { type: 'user', id: 'operator' } as const;

async function apply(context: CommandContext, { values, args }: CommandInput): Promise<void> {
  const { deps, audited, say } = context;
  if (args.length === 0) throw new Mistakes(['name at least one file']);
  const files = args.map(readPrograms);
  const given = files.flatMap(({ found }) => found);
  const option = typeof values.merchant === 'string' ? values.merchant : undefined;
  const merchantId = option ?? (await soleMerchant(deps, given));
  const results = await Promise.all(given.map((one) => check(one, { merchantId, option })));
  const checked = await keyed(
    deps,
    results.flatMap((result) => result.checked),
  );
  const mistakes = [...files, ...results].flatMap((result) => result.mistakes);
  mistakes.push(...repeated(checked, '_id'), ...repeated(checked, 'slug'), ...(await refused(context, checked)));
  mistakes.push(...(await tooManyImages(deps, checked)));
  if (mistakes.length > 0) throw new Mistakes([...mistakes, 'nothing was changed']);
  if (checked.length === 0) throw new Mistakes(['the files hold no program; nothing was changed']);

  const targets = checked.map(({ program: { _id, merchantId: of } }) => ({
    merchantId: of,
    targetId: programIdOf(_id),
  }));
  const programsGiven = checked.map(({ program }) => program);
  const changes = { programs: programsGiven, actor: operator };
  const published = await applyPrograms(audited(targets, ['programs']), changes);
  for (const { program } of checked)
    say(
      `applied ${programIdOf(program._id)} (${program.style}, slug ${program.slug}) of merchant ${program.merchantId}`,
    );
  const rebuilds = published.flatMap(({ program, rebuild }) => (rebuild ? [{ programId: program._id, rebuild }] : []));
  if (rebuilds.length === 0) return;
  const workflowClient = await reachTemporal(context);
  for (const { programId, rebuild: batch } of rebuilds) {
    await startStored({ ...deps, workflowClient }, { batch, summary: `rebuild the passes of ${programId}` });
    say(`the passes of ${programId} are rebuilt by batch ${batch._id}`);
  }
}

async function archive({ deps, audited, say }: CommandContext, { args }: CommandInput): Promise<void> {
  if (args.length === 0) throw new Mistakes(['name the id of a program']);
  const named = await Promise.all(args.map((id) => programNamed(deps, id)));
  const mistakes = named.filter((one) => typeof one === 'string');
  if (mistakes.length > 0) throw new Mistakes(mistakes.map((one) => `${one}; nothing was changed`));
  const open = named.filter((one) => typeof one !== 'string').filter(({ archived }) => !archived);
  const targets = open.map(({ _id, merchantId }) => ({ merchantId, targetId: programIdOf(_id) }));
  const statements = open.map(({ _id }) => update(deps, 'programs', { _id }, { $set: { archived: true } }));
  if (open.length > 0) await transact(audited(targets, ['programs']), statements, open.length);
  for (const id of args) say(`archived ${id}: nobody can be enrolled into it any more`);
}

const momentWith = (form: { local?: true; offset?: true }) =>
  z.union([z.iso.datetime(form), z.iso.datetime({ ...form, precision: -1 })]);
const localMoment = momentWith({ local: true });
const moment = momentWith({ offset: true });

export function momentOf(text: string): number {
  if (moment.safeParse(text).success) return Date.parse(text);
  const lacks = localMoment.safeParse(text).success ? 'lacks its offset' : 'is no time';
  throw new Mistakes([`--at ${lacks}: it must be a time with its offset, such as 2027-01-01T00:00:00Z`]);
}

/** Runs the workflow of the schedule ahead of time. Expired points cannot be restored. */
async function expire(context: CommandContext, { values, args }: CommandInput): Promise<void> {
  const { deps, isDevelopment, audited, say } = context;
  const [id, ...rest] = args;
  if (id === undefined || rest.length > 0) throw new Mistakes(['name the id of one program']);
  if (!isDevelopment)
    throw new Mistakes([
      'is for development only: the stack of npm start, or NODE_ENV=development; nothing was changed',
    ]);
  const at = values.at === undefined ? undefined : momentOf(String(values.at));
  const program = await programNamed(deps, id);
  if (typeof program === 'string') throw new Mistakes([`${program}; nothing was changed`]);
  const { _id: programId, merchantId, expiry } = program;
  if (!expiry) throw new Mistakes([`the points of "${id}" do not expire; nothing was changed`]);
  const input: WorkflowInputs['expirePoints'] = { programId, ...(at !== undefined && { at }) };
  await transact(audited([{ merchantId, targetId: programIdOf(programId) }]), [], 0);
  const { expired } = await context
    .temporal()
    .client.workflow.execute<(input: WorkflowInputs['expirePoints']) => Promise<{ expired: number }>>('expirePoints', {
      workflowId: expireId(programId, at ?? 'now'),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      workflowExecutionTimeout: '1h',
      taskQueue: taskQueues.workflows,
      args: [input],
    });
  say(`points of ${expired} ${expired === 1 ? 'member' : 'members'} of ${id} expired`);
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
      does: 'edits and publishes the programs of these JSON files; a file holds one or an array of them',
      example: 'apply program.json --merchant corner-cafe',
      takesWords: true,
      options: merchant,
      audit: 'program.apply',
      run: apply,
    },
    archive: {
      usage: 'archive ID...',
      does: 'closes programs for new members',
      example: 'archive demo-points',
      takesWords: true,
      audit: 'program.archive',
      run: archive,
    },
    expire: {
      usage: 'expire ID [--at INSTANT]',
      does: 'expires what is over now, or at INSTANT; refused outside development',
      example: 'expire demo-points --at 2027-01-01T00:00:00Z',
      takesWords: true,
      options: { at: { type: 'string' } },
      audit: 'program.expire',
      run: expire,
    },
    list: { usage: 'list', does: 'shows all programs', example: 'list', audit: null, run: list },
  },
};

if (process.argv[1]?.match(/commands\/programs\.[jt]s$/)) await main(programs);
