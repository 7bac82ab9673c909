// Rebuilds passes. A pass shows the template as of its last fetch, so a changed template reaches saved passes only when
// they are pushed again.
import { setTimeout as sleep } from 'node:timers/promises';
import { startBatch } from '../../activities/batches/startBatch.effect.js';
import { isFinished } from '../../schemas/batches/batches.schema.js';
import { newId, programIdOf, rebuildId } from '../../schemas/shared/ids.js';
import { type Command, type CommandContext, type CommandInput, Mistakes, main, reachTemporal } from './command.js';
import { programNamed } from './programNamed.js';

async function rebuild(context: CommandContext, { args, values }: CommandInput): Promise<void> {
  const { deps, say } = context;
  const [id = '', ...rest] = args;
  if (id === '' || rest.length > 0) throw new Mistakes(['name one program']);
  const program = await programNamed(deps, id);
  if (typeof program === 'string') throw new Mistakes([program]);
  const { _id: programId, merchantId } = program;

  const workflowClient = await reachTemporal(context);
  const batchId = newId();
  await startBatch(
    { ...context.audited([{ merchantId, targetId: programIdOf(programId) }], ['batches']), workflowClient },
    {
      batch: {
        _id: batchId,
        merchantId,
        kind: 'passes.rebuild',
        programId,
        startedBy: { type: 'user', id: 'operator' },
      },
      summary: `rebuild the passes of ${programId}`,
    },
  );
  say(`started ${rebuildId(batchId)}`);
  if (values.wait) await follow(context, batchId);
}

const shownMembers = 100;

/**
 * Lists the members whose pass is not in a wallet yet: those from the time of stub mode, and those that Google refused.
 */
async function missing({ deps, say }: CommandContext, { args }: CommandInput): Promise<void> {
  const [given, ...rest] = args;
  if (rest.length > 0) throw new Mistakes(['name one program, or none']);
  const program = given === undefined ? undefined : await programNamed(deps, given);
  if (typeof program === 'string') throw new Mistakes([program]);
  const withoutPass = deps.collections.members
    .find(
      { merchantId: { $gt: '' }, 'pass.googleDueAt': { $gt: new Date(0) } },
      { projection: { memberCode: 1, programId: 1, pass: 1 } },
    )
    .batchSize(1_000);
  let count = 0;
  for await (const { memberCode, programId: of, pass } of withoutPass) {
    if (pass.googleSaveUrl !== undefined || (program && of !== program._id)) continue;
    count += 1;
    if (count <= shownMembers) say(`${memberCode}  ${of}  google, since ${pass.googleDueAt?.toISOString()}`);
  }
  if (count > shownMembers) say(`and ${count - shownMembers} more`);
  if (count === 0) say('every member has its passes');
  else say(count === 1 ? '1 member has no pass in a wallet' : `${count} members have no pass in a wallet`);
}

async function follow({ deps, say }: CommandContext, batchId: string): Promise<void> {
  for (;;) {
    const batch = await deps.collections.batches.findOne({ _id: batchId });
    if (batch && isFinished(batch.phase)) {
      const { counts, phase, reason } = batch;
      const pushed = `${phase}: ${counts.created} of ${counts.total} passes pushed, ${counts.failed} not taken`;
      const said = reason ? `${pushed}. ${reason}` : pushed;
      if (phase !== 'completed') throw new Mistakes([said]);
      say(said);
      return;
    }
    await sleep(250);
  }
}

export const passes: Command = {
  name: 'passes',
  verbs: {
    rebuild: {
      usage: 'rebuild PROGRAM [--wait]',
      does: 'pushes every pass of a program afresh, so that phones fetch its new template, and makes missing ones',
      example: 'rebuild demo-points --wait',
      takesWords: true,
      options: { wait: { type: 'boolean' } },
      audit: 'program.rebuild',
      run: rebuild,
    },
    missing: {
      usage: 'missing [PROGRAM]',
      does: 'names the members whose pass is not in a wallet yet; Google gets it when it is real',
      example: 'missing demo-points',
      takesWords: true,
      audit: null,
      run: missing,
    },
  },
};

if (process.argv[1]?.match(/commands\/passes\.[jt]s$/)) await main(passes);
