// Sends a campaign: it writes the message to each member's pass and pushes the pass, with the same functions as a
// single change. Each member has one event of the campaign, whose id is derived from both, so a chunk is idempotent:
// each message is written once, and only pushes and deliveries that were not recorded are repeated. A rebuild of a
// program's passes works in the same way, without a message.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Filter } from 'mongodb';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import { readInOrder } from '../../platform/mongodb/readInOrder.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { transact } from '../../platform/mongodb/transact.js';
import { cachedForMs } from '../../platform/shortLivedCache.js';
import type { BatchRow, BatchTargetsRow, Position } from '../../schemas/batches/batches.rows.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import {
  type AutomaticAudience,
  audienceFields,
  automaticAudience,
  isUntold,
} from '../../schemas/members/audiences.rules.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { campaignId, derivedId, rebuildId } from '../../schemas/shared/ids.js';
import type { ChunkProgress, ListProgress } from '../../schemas/tables/workflows.js';
import { googleProgramView } from '../../schemas/wallets/passes.view.js';
import { leaseEvents, newFence, releaseEvents } from '../events/leases.writes.js';
import { audienceLists, isInLists } from '../members/audiences.reads.js';
import { dueExpiry } from '../members/dueExpiry.writes.js';
import { memberWritesOf } from '../members/memberStatements.rules.js';
import { automaticMessageRule, pushRule } from '../members/members.rules.js';
import { cachedProgram, readProgram } from '../programs/program.reads.js';
import { markObjectsDue } from '../wallets/google/followObjects.activity.js';
import { GoogleWalletError } from '../wallets/google/googleWalletError.rules.js';
import { isFinalRefusal } from '../wallets/google/upsertClasses.activity.js';
import { countLatePushes, pushOutcomeOf } from '../wallets/pushOutcomes.writes.js';
import { processEvents } from '../webhooks/processEvents.effect.js';
import type { WorkerDeps } from '../workerDeps.js';
import { type RunChunksInput, runChunks } from './runChunks.effect.js';
import {
  countTargets,
  type ListTargets,
  listTargets,
  type Outcomes,
  type Page,
  readTargets,
} from './targets.writes.js';

const chunkSize = 200;
const longestReason = 500;
/** Members in one transaction. The number is small so that conflicts with other changes of these members are rare. */
const memberBatchSize = 20;

interface Listed {
  where: Filter<MemberRow>;
  after: Position | undefined;
  projection?: Partial<Record<string, 1>>;
}

/** Members, newest first. Members who join while the list is read are not in it. */
const pagesOf = (deps: WorkerDeps, { where, after, projection = {} }: Listed) =>
  readInOrder(deps.collections.members, { where, after, projection, by: 'createdAt', direction: -1 });

const positionOf = ({ _id, createdAt }: MemberRow): Position => ({ at: createdAt, id: _id });

/** The audience of an automatic message. */
const automaticAudienceOf = ({
  campaign,
  automatic,
}: Pick<BatchRow, 'campaign' | 'automatic'>): AutomaticAudience | undefined =>
  automatic ? automaticAudience.parse(campaign?.audience) : undefined;

/** Whether a campaign may still write to a member: an automatic message does so once on each occasion. */
const openTo =
  (audience: AutomaticAudience | undefined) =>
  (member: MemberRow): boolean =>
    audience === undefined || isUntold(audience, member);

async function* matchingMembers(deps: WorkerDeps, batch: BatchRow, after: Position | undefined): AsyncGenerator<Page> {
  const { merchantId, programId, campaign, phaseStartedAt } = batch;
  const { tags = [], audience } = campaign ?? {};
  const lists = audience && (await audienceLists(deps, { merchantId, programId, audience, at: phaseStartedAt }));
  const [first] = tags;
  // The index covers the program or one tag; the other conditions are checked after reading.
  const where = { merchantId, ...(first === undefined ? programId !== undefined && { programId } : { tags: first }) };
  const isMeant = isInLists(lists);
  const isOpen = openTo(automaticAudienceOf(batch));
  const matches = (member: MemberRow): boolean =>
    member.status === 'active' &&
    (programId === undefined || member.programId === programId) &&
    tags.every((tag) => member.tags.includes(tag)) &&
    isMeant(member) &&
    isOpen(member);
  const projection = { tags: 1, programId: 1, told: 1, ...audienceFields } as const;
  for await (const { rows, end } of pagesOf(deps, { where, after, projection }))
    yield { found: rows.filter(matches).map(positionOf), end };
}

/** Throws ApplicationFailure BATCH_NOT_FOUND, MERCHANT_SUSPENDED. */
export async function snapshotCampaign(deps: WorkerDeps, at: ListTargets): Promise<ListProgress> {
  return listTargets(deps, at, { size: chunkSize, find: (batch, after) => matchingMembers(deps, batch, after) });
}

/**
 * Members whose pass is on a device or saved at Google. Other passes are built from the newest template when they are
 * fetched.
 */
async function* membersWithPass(deps: WorkerDeps, batch: BatchRow, after: Position | undefined): AsyncGenerator<Page> {
  if (!after) {
    // By then no process has the program from before the change in its cache, so all pushes show the new one.
    await sleep(cachedForMs + 100);
    await tryUpdateClass(deps, batch);
  }
  const { merchantId, programId = '' } = batch;
  const projection = { deviceCount: 1, 'pass.googleSaved': 1, 'pass.googleSaveUrl': 1 } as const;
  for await (const { rows, end } of pagesOf(deps, { where: { merchantId, programId }, after, projection })) {
    await markObjectsDue(
      deps,
      rows.filter(({ pass }) => pass.googleSaveUrl === undefined).map(({ _id }) => _id),
    );
    const withPass = rows.filter(({ deviceCount, pass }) => deviceCount > 0 || pass.googleSaved);
    yield { found: withPass.map(positionOf), end };
  }
}

/** Passes are pushed whatever Google answers; the batch says why Google does not show the new design. */
async function tryUpdateClass(deps: WorkerDeps, { _id, merchantId, programId = '' }: BatchRow): Promise<void> {
  const { google } = deps.wallets;
  if (!google) return;
  try {
    const program = await readProgram(deps, { merchantId, programId });
    await google.api.upsertClass(googleProgramView(deps.config, program));
  } catch (error) {
    if (!(error instanceof GoogleWalletError)) throw error;
    const reason = isFinalRefusal(error)
      ? `Google refused the new design. ${error.message}`
      : `Google has not accepted the new design yet; it is tried again. ${error.message}`;
    await deps.collections.batches.updateOne({ _id }, { $set: { reason: reason.slice(0, longestReason) } });
  }
}

/** Throws ApplicationFailure BATCH_NOT_FOUND, MERCHANT_SUSPENDED. */
export async function snapshotRebuild(deps: WorkerDeps, at: ListTargets): Promise<ListProgress> {
  return listTargets(deps, at, { size: chunkSize, find: (batch, after) => membersWithPass(deps, batch, after) });
}

/** Throws ApplicationFailure BATCH_NOT_FOUND. */
export async function sendMessages(deps: WorkerDeps, input: RunChunksInput): Promise<ChunkProgress> {
  return runChunks(deps, input, async (batch, chunk) => {
    const targets = await readTargets(deps, { batch, chunk });
    if (!targets.counted && targets.ids.length > 0)
      await sendChunk(deps, { batch, targets, cancellationSignal: input.cancellationSignal });
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
    const memberIds = ids.slice(from, from + memberBatchSize);
    await writeMessages(deps, { batch, leaseOwner, memberIds, targetsId: targets._id });
  }
  deps.crashPoint('mid-chunk');
  const eventIds = ids.map((memberId) => eventIdOf(batch, memberId));
  const fence = newFence();
  const events = await leaseEvents(deps, { leaseOwner, eventIds, fence });
  const failed = await processEvents(deps, { leaseOwner, fence, events, cancellationSignal });
  await releaseEvents(deps, { leaseOwner, fence, events: events.filter((event) => failed.has(event._id)) });
  const { outcomes, failed: failedEvents } = await outcomesOf(deps, { batch, ids });
  await countTargets(deps, { targets, outcomes, failedIds: failedEvents.flatMap(({ memberId }) => memberId ?? []) });
  // A late push that was recorded between the two statements did not find its member among the failed ones.
  const afterwards = failedEvents.map((event) => event._id);
  if (afterwards.length > 0) await countLatePushes(deps, await readPushes(deps, afterwards));
}

interface WriteMessages {
  batch: BatchRow;
  leaseOwner: string;
  memberIds: string[];
  targetsId: string;
}

/**
 * Leaves out members that already have the event of this campaign and, for a campaign, members that are no longer
 * active. An automatic message also leaves out those who have left its audience since they were listed, or who got it
 * from the campaign of another day.
 */
async function writeMessages(
  deps: WorkerDeps,
  { batch, leaseOwner, memberIds, targetsId }: WriteMessages,
): Promise<void> {
  const { merchantId, campaign, kind } = batch;
  const audience = automaticAudienceOf(batch);
  const isOpen = openTo(audience);
  const lists = audience && (await audienceLists(deps, { ...batch, audience, at: batch.phaseStartedAt }));
  const isMeant = isInLists(lists);
  await retryOnConflict(deps, async () => {
    const eventIds = memberIds.map((memberId) => eventIdOf(batch, memberId));
    const [found, written] = await Promise.all([
      findByIds(deps, 'members', { ids: memberIds, merchantId }),
      deps.collections.events.find({ _id: { $in: eventIds } }, { projection: { _id: 1 } }).toArray(),
    ]);
    const known = new Set(written.map((event) => event._id));
    const members = found.filter(
      (member) => kind !== 'campaign' || (member.status === 'active' && isOpen(member) && isMeant(member)),
    );
    const open = members.filter((member) => !known.has(eventIdOf(batch, member._id)));
    if (open.length === 0) return;
    const now = deps.now();
    const decide = audience
      ? automaticMessageRule({ message: campaign?.message, audience, now })
      : pushRule(campaign?.message);
    let due = 0;
    const statements = await Promise.all(
      open.map(async (member) => {
        const program = await cachedProgram(deps, member);
        const expired = dueExpiry(deps, { member, program, now });
        if (expired) due += 1;
        const { change, inserts } = memberWritesOf(deps, {
          before: expired?.member ?? member,
          program,
          decision: decide(expired?.member ?? member),
          eventId: eventIdOf(batch, member._id),
          chooseLeaseOwner: () => leaseOwner,
          targetsId,
        });
        return [...(expired?.statements ?? []), change, ...inserts];
      }),
    );
    await transact(deps, statements.flat(), open.length + due);
  });
}

/** The outcome of each member's push, as far as it is recorded. */
async function outcomesOf(
  deps: WorkerDeps,
  { batch, ids }: { batch: BatchRow; ids: string[] },
): Promise<{ outcomes: Outcomes; failed: EventRow[] }> {
  const [events, saved] = await Promise.all([
    readPushes(
      deps,
      ids.map((memberId) => eventIdOf(batch, memberId)),
    ),
    deps.collections.members
      .find({ _id: { $in: ids }, 'pass.googleSaved': true }, { projection: { _id: 1 } })
      .toArray(),
  ]);
  const atGoogle = new Set(saved.map((member) => member._id));
  const outcomes: Outcomes = { created: 0, deduped: ids.length - events.length, failed: 0 };
  const failed: EventRow[] = [];
  for (const event of events) {
    const outcome = pushOutcomeOf(event.passUpdate, atGoogle.has(event.memberId ?? ''));
    outcomes[outcome] += 1;
    if (outcome === 'failed') failed.push(event);
  }
  return { outcomes, failed };
}

const readPushes = (deps: WorkerDeps, eventIds: string[]): Promise<EventRow[]> =>
  deps.collections.events
    .find({ _id: { $in: eventIds } }, { projection: { memberId: 1, merchantId: 1, targetsId: 1, passUpdate: 1 } })
    .toArray();
