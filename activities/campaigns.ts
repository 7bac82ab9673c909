// Sending a campaign: the message goes onto each pass as any change does, and is pushed as any change is. Each member has one
// event of the campaign, under an id derived from both, so a chunk that runs twice writes and sends nothing twice.

import { isFinished } from '../schemas/batches.js';
import type { BatchRow, BatchTargetsRow, EventRow, MemberRow } from '../schemas/collections.js';
import { campaignId, derivedId } from '../schemas/ids.js';
import type { ImportStep } from '../schemas/workflows.js';
import { carryOut } from './carryOut.js';
import { claimEvents, giveBack, newFence } from './claimEvents.js';
import { decidePush } from './decisions.js';
import { type StepInput, takeSteps } from './imports/takeSteps.js';
import { stepOf } from './memberStep.js';
import { recentProgram } from './programs.js';
import { beginBatch, countTargets, drawUp, type Outcomes, readTargets } from './targets.js';
import { decideAgain, transact } from './transact.js';
import { hasAudience, modesOf } from './walletModes.js';
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

export async function sendMessages(deps: WorkerDeps, input: StepInput): Promise<ImportStep> {
  return takeSteps(deps, input, async (batch, chunk) => {
    if (batch.cancelRequestedAt || isFinished(batch.phase)) return 'stop';
    const targets = await readTargets(deps, { batch, chunk });
    if (!targets.counted) await sendChunk(deps, { batch, targets, callOff: input.callOff });
    return 'next';
  });
}

const eventIdOf = (batch: BatchRow, memberId: string): string => derivedId('campaign', batch._id, memberId);

interface SendChunk {
  batch: BatchRow;
  targets: BatchTargetsRow;
  callOff: AbortSignal;
}

async function sendChunk(deps: WorkerDeps, { batch, targets, callOff }: SendChunk): Promise<void> {
  const holder = campaignId(batch._id);
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
  const { merchantId, campaign } = batch;
  const decision = decidePush(campaign?.message)();
  await decideAgain(deps, async () => {
    const eventIds = memberIds.map((memberId) => eventIdOf(batch, memberId));
    const [members, written] = await Promise.all([
      deps.rows.members.find({ _id: { $in: memberIds }, merchantId, status: 'active' }).toArray(),
      deps.rows.events.find({ _id: { $in: eventIds } }, { projection: { _id: 1 } }).toArray(),
    ]);
    const known = new Set(written.map((event) => event._id));
    const open = members.filter((member) => !known.has(eventIdOf(batch, member._id)));
    if (open.length === 0) return;
    const steps = await Promise.all(
      open.map(async (before) => {
        const program = await recentProgram(deps, before);
        return stepOf(deps, { before, program, decision, eventId: eventIdOf(batch, before._id), holder });
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
  const [members, events] = await Promise.all([
    deps.rows.members
      .find({ _id: { $in: ids } }, { projection: { programId: 1, merchantId: 1, deviceCount: 1, pass: 1 } })
      .toArray(),
    deps.rows.events.find({ _id: { $in: eventIds } }, { projection: { memberId: 1, passUpdate: 1 } }).toArray(),
  ]);
  const byMember = new Map(events.map((event) => [event.memberId, event]));
  const outcomes: Outcomes = { created: 0, deduped: ids.length - members.length, failed: 0 };
  for (const member of members) outcomes[await outcomeOf(deps, member, byMember.get(member._id))] += 1;
  return outcomes;
}

/** Pushed is `created`, skipped is `deduped`: see campaignCountsOf. */
async function outcomeOf(
  deps: WorkerDeps,
  member: MemberRow,
  event: Pick<EventRow, 'passUpdate'> | undefined,
): Promise<keyof Outcomes> {
  if (!event) return 'deduped';
  const { passUpdate } = event;
  if (!passUpdate) return 'failed';
  if (passUpdate.apple.devicesNotified > 0 || passUpdate.google.objectPatched) return 'created';
  return hasAudience(modesOf(deps.walletModes, await recentProgram(deps, member)), member) ? 'failed' : 'deduped';
}
