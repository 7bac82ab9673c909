// What follows the creation of imported members, chunk after chunk: `member.created` is written from what the chunk's
// transaction decided, passes are issued, and both are published. A wallet that fails holds nobody up: the event says so,
// and the pass is issued later.
import { isFinished } from '../../schemas/batches.js';
import type { BatchChunkRow, BatchRow, EventRow, ImportRowOutcome, MemberRow } from '../../schemas/collections.js';
import { importId } from '../../schemas/ids.js';
import type { ImportStep } from '../../schemas/workflows.js';
import { claimedFromBirth, giveBack, holdEvents, newFence } from '../claimEvents.js';
import { insertNew } from '../insertNew.js';
import { frozen } from '../newEvent.js';
import { memberCreated } from '../newMember.js';
import { decideAgain, isConflict, StaleRead, transact, update } from '../transact.js';
import { issueBoth } from '../wallets/issuePasses.js';
import { issuanceOf, publishClaimed } from '../webhooks/publishEvents.js';
import type { WorkerDeps } from '../workerDeps.js';
import { readChunk } from './createChunks.js';
import { type StepInput, takeSteps } from './takeSteps.js';

export async function carryImported(deps: WorkerDeps, input: StepInput): Promise<ImportStep> {
  await deps.rows.batches.updateOne(
    { _id: input.batchId, phase: { $in: ['queued', 'creating'] }, dryRun: { $exists: false } },
    { $set: { phase: 'publishing', phaseStartedAt: deps.now() } },
  );
  return takeSteps(deps, input, async (batch, chunk) => {
    if (batch.dryRun || isFinished(batch.phase)) return 'stop';
    const row = await readChunk(deps, { batchId: batch._id, chunk });
    // Chunks are created in their order: behind one that was not, none was.
    if (!row.outcomes) return 'stop';
    const work = () => carryChunk(deps, { batch, row, callOff: input.callOff });
    if (!row.carried) await deps.courtesy.bulk(work, input.callOff);
    return chunk + 1;
  });
}

/** A claim that is to last so long yet is not renewed before a chunk is published. */
const publishingMs = 30_000;

type Created = ImportRowOutcome & { memberId: string; eventId: string };

export const createdOf = (row: BatchChunkRow): Created[] =>
  (row.outcomes ?? []).filter((entry): entry is Created => entry.memberId !== undefined && entry.eventId !== undefined);

interface CarryChunk {
  batch: BatchRow;
  row: BatchChunkRow;
  callOff: AbortSignal;
}

async function carryChunk(deps: WorkerDeps, { batch, row, callOff }: CarryChunk): Promise<void> {
  const created = createdOf(row);
  if (created.length === 0) return;
  const holder = importId(batch._id);
  const memberIds = created.map((entry) => entry.memberId);
  const fence = newFence();
  const issued = await issueBoth(deps, { memberIds, holder, fence });
  const events = await addEvents(deps, { row, created, holder, fence });
  await publish(deps, { holder, fence, eventIds: [...events, ...issued.eventIds], callOff });
  await recordCarried(deps, { batch, row, memberIds });
}

/** One `member.created` for each, under the id that its row decided, with its bytes; written twice, it is there once. */
async function addEvents(
  deps: WorkerDeps,
  { row, created, ...claim }: { row: BatchChunkRow; created: Created[]; holder: string; fence: string },
): Promise<string[]> {
  const members = await deps.rows.members.find({ _id: { $in: created.map((entry) => entry.memberId) } }).toArray();
  const byId = new Map(members.map((member) => [member._id, member]));
  const people = new Map(row.rows.map((entry) => [entry.row, entry.person]));
  const events = created.flatMap(({ row: number, memberId, eventId }): EventRow[] => {
    const member = byId.get(memberId);
    if (!member) return [];
    const { initialPoints: _, ...names } = people.get(number) ?? {};
    const { firstName: _f, lastName: _l, email: _e, phone: _p, ...rest } = member;
    const asCreated: MemberRow = { ...rest, ...names, version: 1 };
    const event = memberCreated(deps, { member: asCreated, eventId, holder: claim.holder });
    const told = { ...event, occurredAt: member.createdAt };
    return [{ ...told, ...frozen(told, issuanceOf(member.pass)) }];
  });
  await insertNew(deps.rows.events, claimedFromBirth(deps, events, claim));
  return events.map((event) => event._id);
}

/** What cannot be published is left to the relay, and holds up nothing. */
export async function publish(
  deps: WorkerDeps,
  { holder, fence, eventIds, callOff }: { holder: string; fence: string; eventIds: string[]; callOff: AbortSignal },
): Promise<void> {
  const claimedAt = performance.now();
  const events = await holdEvents(deps, { holder, fence, eventIds, forMs: publishingMs });
  const failed = await publishClaimed(deps, { holder, fence, claimedAt, events, callOff });
  if (callOff.aborted) throw new Error('Handed back: this worker stops.');
  await giveBack(deps, { holder, fence, events: events.filter((event) => failed.has(event._id)) });
}

/** Counts the passes that are there now, once a chunk, or again for the chunk that had too few. */
export async function recordCarried(
  deps: WorkerDeps,
  { batch, row, memberIds }: { batch: BatchRow; row: BatchChunkRow; memberIds: string[] },
): Promise<{ apple: number; google: number }> {
  const passes = await deps.rows.members
    .find({ _id: { $in: memberIds } }, { projection: { 'pass.appleIssuedAt': 1, 'pass.googleIssuedAt': 1 } })
    .toArray();
  const carried = {
    apple: passes.filter(({ pass }) => pass?.appleIssuedAt).length,
    google: passes.filter(({ pass }) => pass?.googleIssuedAt).length,
  };
  const before = row.carried ?? { apple: 0, google: 0 };
  const unchanged = row.carried
    ? { 'carried.apple': before.apple, 'carried.google': before.google }
    : { carried: { $exists: false } };
  const change = {
    'passIssuance.apple': carried.apple - before.apple,
    'passIssuance.google': carried.google - before.google,
    carried: row.carried ? 0 : memberIds.length,
  };
  try {
    const write = () =>
      transact(
        deps,
        [
          update(deps, 'batchRows', { _id: row._id, ...unchanged }, { $set: { carried } }),
          update(deps, 'batches', { _id: batch._id }, { $inc: change }),
        ],
        2,
      );
    // Other chunks of the batch add to the same counts just now.
    await decideAgain(deps, write, isConflict);
  } catch (error) {
    // Another attempt recorded it.
    if (!(error instanceof StaleRead)) throw error;
  }
  return carried;
}
