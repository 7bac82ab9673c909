// Sends a campaign: it writes the message to each member's pass and pushes the pass, with the same functions as a
// single change. Each member has one event of the campaign, whose id is derived from both, so a chunk that runs twice
// writes each message once and repeats only pushes and deliveries that were not recorded. A rebuild of a program's
// passes is the same without a message.

import { findByIds } from '../../platform/mongodb/findByIds.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { transact } from '../../platform/mongodb/transact.js';
import { isFinished } from '../../schemas/batches.js';
import type { BatchRow, BatchTargetsRow } from '../../schemas/collections.js';
import { campaignId, derivedId, rebuildId } from '../../schemas/ids.js';
import type { PassUpdate } from '../../schemas/passUpdate.js';
import type { ChunkProgress } from '../../schemas/workflows.js';
import { decidePush } from '../members/memberRules.js';
import { memberWritesOf } from '../members/memberWrites.js';
import { leaseEvents, newFence, releaseEvents } from '../outbox/leases.js';
import { processEvents } from '../outbox/processEvents.js';
import { cachedProgram, readProgram } from '../programs/readProgram.js';
import { googleProgramView } from '../wallets/passViews.js';
import type { WorkerDeps } from '../workerDeps.js';
import { type RunChunksInput, runChunks } from './runChunks.js';
import { beginBatch, countTargets, type Outcomes, readTargets, snapshotTargets } from './targets.js';

const chunkSize = 200;
/** Members in one transaction. A small number keeps conflicts with other changes of these members rare. */
const memberBatchSize = 20;

async function* matchingMembers(
  deps: WorkerDeps,
  { merchantId, programId, campaign }: BatchRow,
): AsyncGenerator<string> {
  const { tags = [] } = campaign ?? {};
  const [first] = tags;
  const members = deps.collections.members
    .find(
      {
        merchantId,
        status: 'active',
        ...(programId !== undefined && { programId }),
        // An index serves one tag; the other tags are compared after reading.
        ...(first !== undefined && { tags: first }),
      },
      { projection: { tags: 1 } },
    )
    .batchSize(1_000);
  for await (const member of members) if (tags.every((tag) => member.tags.includes(tag))) yield member._id;
}

/** Throws ApplicationFailure BATCH_NOT_FOUND. */
export async function snapshotCampaign(deps: WorkerDeps, at: { batchId: string }): Promise<{ total: number }> {
  const batch = await beginBatch(deps, at);
  return snapshotTargets(deps, { batch, ids: matchingMembers(deps, batch), size: chunkSize });
}

/**
 * Members whose pass is on a device or saved at Google. Other passes are built from the newest template when they are
 * fetched.
 */
async function* membersWithPass(deps: WorkerDeps, { merchantId, programId = '' }: BatchRow): AsyncGenerator<string> {
  const members = deps.collections.members
    .find({ merchantId, programId }, { projection: { deviceCount: 1, 'pass.googleSaved': 1 } })
    .batchSize(1_000);
  for await (const { _id, deviceCount, pass } of members) if (deviceCount > 0 || pass.googleSaved) yield _id;
}

/**
 * Throws ApplicationFailure BATCH_NOT_FOUND, and GoogleWalletError when the program's class could not be updated and
 * the update must be retried.
 */
export async function snapshotRebuild(deps: WorkerDeps, at: { batchId: string }): Promise<{ total: number }> {
  const batch = await beginBatch(deps, at);
  const program = await readProgram(deps, { merchantId: batch.merchantId, programId: batch.programId ?? '' });
  await deps.wallets.google?.api.upsertClass(googleProgramView(deps.config, program));
  return snapshotTargets(deps, { batch, ids: membersWithPass(deps, batch), size: chunkSize });
}

/** Throws ApplicationFailure BATCH_NOT_FOUND. */
export async function sendMessages(deps: WorkerDeps, input: RunChunksInput): Promise<ChunkProgress> {
  return runChunks(deps, input, async (batch, chunk) => {
    if (batch.cancelRequestedAt || isFinished(batch.phase)) return 'stop';
    const targets = await readTargets(deps, { batch, chunk });
    if (!targets.counted) await sendChunk(deps, { batch, targets, cancellationSignal: input.cancellationSignal });
    return chunk + 1;
  });
}

const eventIdOf = (batch: BatchRow, memberId: string): string => derivedId('campaign', batch._id, memberId);

interface SendChunk {
  batch: BatchRow;
  targets: BatchTargetsRow;
  cancellationSignal: AbortSignal;
}

async function sendChunk(deps: WorkerDeps, { batch, targets, cancellationSignal }: SendChunk): Promise<void> {
  const leaseOwner = batch.kind === 'campaign' ? campaignId(batch._id) : rebuildId(batch._id);
  const { ids } = targets;
  for (let from = 0; from < ids.length; from += memberBatchSize) {
    cancellationSignal.throwIfAborted();
    await writeMessages(deps, { batch, leaseOwner, memberIds: ids.slice(from, from + memberBatchSize) });
  }
  deps.crashPoint('mid-chunk');
  const eventIds = ids.map((memberId) => eventIdOf(batch, memberId));
  const fence = newFence();
  const events = await leaseEvents(deps, { leaseOwner, eventIds, fence });
  const failed = await processEvents(deps, { leaseOwner, fence, events, cancellationSignal });
  await releaseEvents(deps, { leaseOwner, fence, events: events.filter((event) => failed.has(event._id)) });
  await countTargets(deps, { targets, outcomes: await outcomesOf(deps, { batch, ids }) });
}

/** Leaves out members that have the campaign's event already, and for a campaign members that are no longer active. */
async function writeMessages(
  deps: WorkerDeps,
  { batch, leaseOwner, memberIds }: { batch: BatchRow; leaseOwner: string; memberIds: string[] },
): Promise<void> {
  const { merchantId, campaign, kind } = batch;
  const decision = decidePush(campaign?.message)();
  await retryOnConflict(deps, async () => {
    const eventIds = memberIds.map((memberId) => eventIdOf(batch, memberId));
    const [found, written] = await Promise.all([
      findByIds(deps.collections.members, { ids: memberIds, merchantId }),
      deps.collections.events.find({ _id: { $in: eventIds } }, { projection: { _id: 1 } }).toArray(),
    ]);
    const known = new Set(written.map((event) => event._id));
    const members = found.filter(({ status }) => kind !== 'campaign' || status === 'active');
    const open = members.filter((member) => !known.has(eventIdOf(batch, member._id)));
    if (open.length === 0) return;
    const writes = await Promise.all(
      open.map(async (before) => {
        const program = await cachedProgram(deps, before);
        return memberWritesOf(deps, {
          before,
          program,
          decision,
          eventId: eventIdOf(batch, before._id),
          leaseOwnerOf: () => leaseOwner,
        });
      }),
    );
    await transact(
      deps,
      writes.flatMap((one) => [one.change, ...one.inserts]),
      writes.length,
    );
  });
}

async function outcomesOf(deps: WorkerDeps, { batch, ids }: { batch: BatchRow; ids: string[] }): Promise<Outcomes> {
  const eventIds = ids.map((memberId) => eventIdOf(batch, memberId));
  const [events, saved] = await Promise.all([
    deps.collections.events.find({ _id: { $in: eventIds } }, { projection: { memberId: 1, passUpdate: 1 } }).toArray(),
    deps.collections.members
      .find({ _id: { $in: ids }, 'pass.googleSaved': true }, { projection: { _id: 1 } })
      .toArray(),
  ]);
  const atGoogle = new Set(saved.map((member) => member._id));
  const outcomes: Outcomes = { created: 0, deduped: ids.length - events.length, failed: 0 };
  for (const { memberId = '', passUpdate } of events) outcomes[outcomeOf(passUpdate, atGoogle.has(memberId))] += 1;
  return outcomes;
}

/** Pushed counts as `created`, skipped as `deduped` (campaignCountsOf). */
function outcomeOf(passUpdate: PassUpdate | null | undefined, savedAtGoogle: boolean): keyof Outcomes {
  if (!passUpdate) return 'failed';
  const { apple, google } = passUpdate;
  if (apple.devicesNotified > 0 || google.objectPatched) return 'created';
  const tried = (apple.mode === 'real' && apple.devicesAttempted > 0) || (google.mode === 'real' && savedAtGoogle);
  return tried ? 'failed' : 'deduped';
}
