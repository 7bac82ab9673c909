// Sending a campaign: the message goes onto each pass as any change does, and is pushed as any change is. Each member has one
// event of the campaign, under an id derived from both, so a chunk that runs twice writes and sends nothing twice. Rebuilding
// the passes of a program is the same without a message.

import { isFinished } from '../schemas/batches.js';
import type { BatchRow, BatchTargetsRow } from '../schemas/collections.js';
import { campaignId, derivedId, rebuildId } from '../schemas/ids.js';
import type { PassUpdate } from '../schemas/passUpdate.js';
import type { ImportStep } from '../schemas/workflows.js';
import { carryOut } from './carryOut.js';
import { claimEvents, giveBack, newFence } from './claimEvents.js';
import { decidePush } from './decisions.js';
import { findByIds } from './findByIds.js';
import { type StepInput, takeSteps } from './imports/takeSteps.js';
import { stepOf } from './memberStep.js';
import { readProgram, recentProgram } from './programs.js';
import { beginBatch, countTargets, drawUp, type Outcomes, readTargets } from './targets.js';
import { decideAgain, transact } from './transact.js';
import { googleProgramOf } from './wallets/faces.js';
import type { WorkerDeps } from './workerDeps.js';

const chunkSize = 200;
/** Members in one transaction: few enough that a gesture seldom gets in between. */
const membersTogether = 20;

async function* matching(deps: WorkerDeps, { merchantId, programId, campaign }: BatchRow): AsyncGenerator<string> {
  const { tags = [] } = campaign ?? {};
  const [first] = tags;
  const members = deps.rows.members
    .find(
      {
        merchantId,
        status: 'active',
        ...(programId !== undefined && { programId }),
        // Equality with one tag is served by an index; the others are looked for in what it finds.
        ...(first !== undefined && { tags: first }),
      },
      { projection: { tags: 1 } },
    )
    .batchSize(1_000);
  for await (const member of members) if (tags.every((tag) => member.tags.includes(tag))) yield member._id;
}

/** Throws ApplicationFailure BATCH_NOT_FOUND. */
export async function drawUpCampaign(deps: WorkerDeps, at: { batchId: string }): Promise<{ total: number }> {
  const batch = await beginBatch(deps, at);
  return drawUp(deps, { batch, ids: matching(deps, batch), size: chunkSize });
}

/** Those whose pass somebody keeps; any other is made of the newest template when it is fetched. */
async function* keeping(deps: WorkerDeps, { merchantId, programId = '' }: BatchRow): AsyncGenerator<string> {
  const members = deps.rows.members
    .find({ merchantId, programId }, { projection: { deviceCount: 1, 'pass.googleSaved': 1 } })
    .batchSize(1_000);
  for await (const { _id, deviceCount, pass } of members) if (deviceCount > 0 || pass.googleSaved) yield _id;
}

/** Throws ApplicationFailure BATCH_NOT_FOUND, and GoogleWalletError when the program's class has to be tried again. */
export async function drawUpRebuild(deps: WorkerDeps, at: { batchId: string }): Promise<{ total: number }> {
  const batch = await beginBatch(deps, at);
  const program = await readProgram(deps, { merchantId: batch.merchantId, programId: batch.programId ?? '' });
  await deps.wallets.google?.wallet.upsertClass(googleProgramOf(deps.config, program));
  return drawUp(deps, { batch, ids: keeping(deps, batch), size: chunkSize });
}

export async function sendMessages(deps: WorkerDeps, input: StepInput): Promise<ImportStep> {
  return takeSteps(deps, input, async (batch, chunk) => {
    if (batch.cancelRequestedAt || isFinished(batch.phase)) return 'stop';
    const targets = await readTargets(deps, { batch, chunk });
    const work = () => sendChunk(deps, { batch, targets, callOff: input.callOff });
    if (!targets.counted) await deps.courtesy.bulk(work, input.callOff);
    return chunk + 1;
  });
}

const eventIdOf = (batch: BatchRow, memberId: string): string => derivedId('campaign', batch._id, memberId);

interface SendChunk {
  batch: BatchRow;
  targets: BatchTargetsRow;
  callOff: AbortSignal;
}

async function sendChunk(deps: WorkerDeps, { batch, targets, callOff }: SendChunk): Promise<void> {
  const holder = batch.kind === 'campaign' ? campaignId(batch._id) : rebuildId(batch._id);
  const { ids } = targets;
  for (let from = 0; from < ids.length; from += membersTogether) {
    callOff.throwIfAborted();
    await writeMessages(deps, { batch, holder, memberIds: ids.slice(from, from + membersTogether) });
  }
  deps.crashPoint('mid-chunk');
  const eventIds = ids.map((memberId) => eventIdOf(batch, memberId));
  const fence = newFence();
  const claimedAt = performance.now();
  const events = await claimEvents(deps, { holder, eventIds, fence });
  const failed = await carryOut(deps, { holder, fence, claimedAt, events, callOff });
  await giveBack(deps, { holder, fence, events: events.filter((event) => failed.has(event._id)) });
  await countTargets(deps, { targets, outcomes: await outcomesOf(deps, { batch, ids }) });
}

/** Members that are no longer active are left out, as are those that have the message already. */
async function writeMessages(
  deps: WorkerDeps,
  { batch, holder, memberIds }: { batch: BatchRow; holder: string; memberIds: string[] },
): Promise<void> {
  const { merchantId, campaign, kind } = batch;
  const decision = decidePush(campaign?.message)();
  await decideAgain(deps, async () => {
    const eventIds = memberIds.map((memberId) => eventIdOf(batch, memberId));
    const [found, written] = await Promise.all([
      findByIds(deps.rows.members, { ids: memberIds, merchantId }),
      deps.rows.events.find({ _id: { $in: eventIds } }, { projection: { _id: 1 } }).toArray(),
    ]);
    const known = new Set(written.map((event) => event._id));
    const members = found.filter(({ status }) => kind !== 'campaign' || status === 'active');
    const open = members.filter((member) => !known.has(eventIdOf(batch, member._id)));
    if (open.length === 0) return;
    const steps = await Promise.all(
      open.map(async (before) => {
        const program = await recentProgram(deps, before);
        return stepOf(deps, {
          before,
          program,
          decision,
          eventId: eventIdOf(batch, before._id),
          holderOf: () => holder,
        });
      }),
    );
    await transact(
      deps,
      steps.flatMap((step) => [step.change, ...step.inserts]),
      steps.length,
    );
  });
}

async function outcomesOf(deps: WorkerDeps, { batch, ids }: { batch: BatchRow; ids: string[] }): Promise<Outcomes> {
  const eventIds = ids.map((memberId) => eventIdOf(batch, memberId));
  const [events, saved] = await Promise.all([
    deps.rows.events.find({ _id: { $in: eventIds } }, { projection: { memberId: 1, passUpdate: 1 } }).toArray(),
    deps.rows.members.find({ _id: { $in: ids }, 'pass.googleSaved': true }, { projection: { _id: 1 } }).toArray(),
  ]);
  const atGoogle = new Set(saved.map((member) => member._id));
  const outcomes: Outcomes = { created: 0, deduped: ids.length - events.length, failed: 0 };
  for (const { memberId = '', passUpdate } of events) outcomes[outcomeOf(passUpdate, atGoogle.has(memberId))] += 1;
  return outcomes;
}

/** Pushed is `created`, skipped is `deduped`: see campaignCountsOf. */
function outcomeOf(passUpdate: PassUpdate | null | undefined, savedAtGoogle: boolean): keyof Outcomes {
  if (!passUpdate) return 'failed';
  const { apple, google } = passUpdate;
  if (apple.devicesNotified > 0 || google.objectPatched) return 'created';
  const tried = (apple.mode === 'real' && apple.devicesAttempted > 0) || (google.mode === 'real' && savedAtGoogle);
  return tried ? 'failed' : 'deduped';
}
