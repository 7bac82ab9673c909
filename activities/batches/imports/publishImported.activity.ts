// Publishes the members that an import created, chunk by chunk: issues their passes, writes their `member.created`
// events from the outcomes of the chunk, and publishes all these events. An unavailable wallet does not delay the
// events: `member.created` says which passes were issued, and the missing ones are issued later. A quiet import issues
// the passes, and publishes nothing for each member.
import { isDuplicateKey, isWriteConflict, VersionConflict } from '../../../platform/mongodb/conflicts.js';
import { insertMissing } from '../../../platform/mongodb/insertMissing.js';
import { retryOnConflict } from '../../../platform/mongodb/retryOnConflict.js';
import { update } from '../../../platform/mongodb/statements.js';
import { transactAlone } from '../../../platform/mongodb/transact.js';
import type { BatchRow, ImportChunkRow, ImportRowOutcome } from '../../../schemas/batches/batches.rows.js';
import type { EventRow } from '../../../schemas/events/events.rows.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { enrollId, importId } from '../../../schemas/shared/ids.js';
import type { Counted } from '../../../schemas/stats/stats.schema.js';
import type { ChunkProgress } from '../../../schemas/tables/workflows.js';
import { ensureLease, newFence, releaseEvents, withLease } from '../../events/leases.writes.js';
import { serialisedEnvelope } from '../../events/newEvent.rules.js';
import { issuanceOf } from '../../events/serialiseEnvelopes.writes.js';
import { memberCreated } from '../../members/newMember.rules.js';
import { createCounting } from '../../stats/counting.writes.js';
import { issueBoth } from '../../wallets/issuePasses.activity.js';
import { publishLeased } from '../../webhooks/publishEvents.activity.js';
import type { WorkerDeps } from '../../workerDeps.js';
import { type RunChunksInput, runChunks } from '../runChunks.effect.js';
import { readChunk } from './createChunks.writes.js';

/** Throws ApplicationFailure BATCH_NOT_FOUND. */
export async function publishImported(deps: WorkerDeps, input: RunChunksInput): Promise<ChunkProgress> {
  await deps.collections.batches.updateOne(
    { _id: input.batchId, phase: { $in: ['queued', 'creating'] } },
    { $set: { phase: 'publishing', phaseStartedAt: deps.now() } },
  );
  // What was created before a cancellation is published too.
  return runChunks(deps, { ...input, despiteCancellation: true }, async (batch, chunk) => {
    const row = await readChunk(deps, { batchId: batch._id, chunk });
    // Chunks are created in order, so no later chunk was created either.
    if (!row.outcomes) return 'stop';
    if (!row.passCounts) await publishChunk(deps, { batch, row, cancellationSignal: input.cancellationSignal });
    return chunk + 1;
  });
}

/** A lease that lasts for at least this long is not renewed before a chunk is published. */
const publishingMs = 30_000;

type Created = ImportRowOutcome & { memberId: string; eventId: string };

export const createdOf = (row: ImportChunkRow): Created[] =>
  (row.outcomes ?? []).filter((entry): entry is Created => entry.memberId !== undefined && entry.eventId !== undefined);

async function publishChunk(
  deps: WorkerDeps,
  { batch, row, cancellationSignal }: { batch: BatchRow; row: ImportChunkRow; cancellationSignal: AbortSignal },
): Promise<void> {
  const created = createdOf(row);
  if (created.length === 0) return;
  const leaseOwner = importId(batch._id);
  const memberIds = created.map((entry) => entry.memberId);
  const fence = newFence();
  const issued = await issueBoth(deps, { memberIds, leaseOwner, fence });
  const events = batch.quiet ? [] : await addEvents(deps, { row, created, leaseOwner, fence });
  await publish(deps, { leaseOwner, fence, eventIds: [...events, ...issued.newEventIds], cancellationSignal });
  await recordPublished(deps, { batch, row, memberIds });
}

/**
 * Writes one serialised `member.created` event for each created row, under the id in the row's outcome. Events that
 * exist already are not written again.
 */
async function addEvents(
  deps: WorkerDeps,
  { row, created, ...lease }: { row: ImportChunkRow; created: Created[]; leaseOwner: string; fence: string },
): Promise<string[]> {
  const members = await deps.collections.members
    .find({ _id: { $in: created.map((entry) => entry.memberId) } })
    .toArray();
  const byId = new Map(members.map((member) => [member._id, member]));
  const people = new Map(row.rows.map((entry) => [entry.row, entry.person]));
  const events = created.flatMap(({ row: number, memberId, eventId }): EventRow[] => {
    const member = byId.get(memberId);
    if (!member) return [];
    const { initialPoints: balance = 0, ...names } = people.get(number) ?? {};
    const { firstName: _f, lastName: _l, email: _e, phone: _p, ...rest } = member;
    const asCreated: MemberRow = { ...rest, ...names, balance, version: 1 };
    const event = memberCreated(deps, { member: asCreated, eventId, leaseOwner: lease.leaseOwner });
    const atCreation = { ...event, occurredAt: member.createdAt };
    return [{ ...atCreation, ...serialisedEnvelope(atCreation, issuanceOf(member.pass)) }];
  });
  await insertMissing(deps.collections.events, withLease(deps, events, lease));
  return events.map((event) => event._id);
}

/**
 * Publishes the events. An event that cannot be published is released for the relay and does not delay the others.
 * Throws when the worker stops.
 */
export async function publish(
  deps: WorkerDeps,
  {
    leaseOwner,
    fence,
    eventIds,
    cancellationSignal,
  }: { leaseOwner: string; fence: string; eventIds: string[]; cancellationSignal: AbortSignal },
): Promise<void> {
  if (eventIds.length === 0) return;
  const events = await ensureLease(deps, { leaseOwner, fence, eventIds, forMs: publishingMs });
  const failed = await publishLeased(deps, { leaseOwner, fence, events, cancellationSignal });
  if (cancellationSignal.aborted) throw new Error('Handed back: this worker stops.');
  await releaseEvents(deps, { leaseOwner, fence, events: events.filter((event) => failed.has(event._id)) });
}

/**
 * Records how many members of the chunk have a pass on each wallet, and adds the difference to the batch's counts. The
 * first time it also counts the members in the overview, because not all of them have an event that could be counted.
 * Called once for each chunk, and again after missing passes were issued.
 */
export async function recordPublished(
  deps: WorkerDeps,
  { batch, row, memberIds }: { batch: BatchRow; row: ImportChunkRow; memberIds: string[] },
): Promise<{ apple: number; google: number }> {
  const passes = await deps.collections.members
    .find(
      { _id: { $in: memberIds } },
      { projection: { createdAt: 1, 'pass.appleIssuedAt': 1, 'pass.googleIssuedAt': 1 } },
    )
    .toArray();
  const passCounts = {
    apple: passes.filter(({ pass }) => pass?.appleIssuedAt).length,
    google: passes.filter(({ pass }) => pass?.googleIssuedAt).length,
  };
  const before = row.passCounts ?? { apple: 0, google: 0 };
  const unchanged = row.passCounts
    ? { 'passCounts.apple': before.apple, 'passCounts.google': before.google }
    : { passCounts: { $exists: false } };
  const change = {
    'passIssuance.apple': passCounts.apple - before.apple,
    'passIssuance.google': passCounts.google - before.google,
    completedMembers: row.passCounts ? 0 : memberIds.length,
  };
  const createdAt = passes[0]?.createdAt ?? deps.now();
  const counted = row.passCounts ? [] : [await countedOf(deps, { batch, memberIds, createdAt })];
  const counting = createCounting(deps);
  try {
    const write = () =>
      counting.changeSlotOnConflict(async () => {
        const counters = await counting.statements(counted);
        const statements = [
          update(deps, 'importChunks', { _id: row._id, ...unchanged }, { $set: { passCounts } }),
          update(deps, 'batches', { _id: batch._id }, { $inc: change }),
          ...counters,
        ];
        return transactAlone(deps, statements, 2 + counters.length);
      });
    // Others may change the counts of the same batch, or of the overview, at the same time.
    await retryOnConflict(deps, write, (error) => isWriteConflict(error) || isDuplicateKey(error));
  } catch (error) {
    // Another attempt has already recorded this chunk.
    if (!(error instanceof VersionConflict)) throw error;
  }
  return passCounts;
}

/** From the ledger, which keeps the points of members that were erased since. */
async function countedOf(
  deps: WorkerDeps,
  {
    batch: { merchantId, programId },
    memberIds,
    createdAt: at,
  }: { batch: BatchRow; memberIds: readonly string[]; createdAt: Date },
): Promise<Counted> {
  const entries = await deps.collections.ledger
    .find({ _id: { $in: memberIds.map(enrollId) } }, { projection: { delta: 1 } })
    .toArray();
  const imported = entries.reduce((sum, { delta }) => sum + delta, 0);
  return { merchantId, programId, at, counts: { 'members.enrolled': memberIds.length, 'points.imported': imported } };
}
