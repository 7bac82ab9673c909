// Makes the story of the demo's café happen with the service's own functions, each with a clock that shows the time of
// the story. Every step has an id that is derived from the story, so one that was made before is not made again, and a
// history that was interrupted is completed by a second run. Nothing leaves this machine: the history is made in stub
// mode, without mails, and only the café's own receiver hears of it.
import pLimit from 'p-limit';
import { findKeyedBatch } from '../../activities/batches/batchKeys.rules.js';
import { sendMessages, snapshotCampaign } from '../../activities/batches/campaigns.activity.js';
import { finishBatch } from '../../activities/batches/finishBatch.activity.js';
import { createImported } from '../../activities/batches/imports/createImported.activity.js';
import { finishImport } from '../../activities/batches/imports/finishImport.activity.js';
import { openImport, queueImport, storeChunk } from '../../activities/batches/imports/openImport.effect.js';
import { publishImported } from '../../activities/batches/imports/publishImported.activity.js';
import { insertBatch } from '../../activities/batches/insertBatch.writes.js';
import { leaseEvents, newFence, releaseEvents } from '../../activities/events/leases.writes.js';
import { leaseTime } from '../../activities/events/leaseTime.rules.js';
import { changeMember } from '../../activities/members/changeMember.writes.js';
import { enrollMember } from '../../activities/members/enrollMember.writes.js';
import { pointsRule, redeemRule } from '../../activities/points/adjustOrRedeem.rules.js';
import { earnRule } from '../../activities/points/earn.rules.js';
import { earnedReader } from '../../activities/points/earned.reads.js';
import { cachedProgram } from '../../activities/programs/program.reads.js';
import { processEvents } from '../../activities/webhooks/processEvents.effect.js';
import type { WorkerDeps } from '../../activities/workerDeps.js';
import { readRows } from '../../api/batches/imports/uploadRows.rules.js';
import { toChunks } from '../../platform/toChunks.js';
import type { Actor } from '../../schemas/access/actor.schema.js';
import { newBatchRow } from '../../schemas/batches/newBatch.rules.js';
import { csvLine } from '../../schemas/shared/csv.rules.js';
import { createdEventId, derivedId, importId, keyedChangeId, requestKeyId, sha256 } from '../../schemas/shared/ids.js';
import { atTime, later, leaseOwner, type Told } from './clock.js';
import { deliverBadHour, subscribeOrders } from './deliveries.js';
import { ordersUrl } from './orders.js';
import type { Style } from './people.js';
import type { Act, Story } from './story.js';

export interface History {
  story: Story;
  merchantId: string;
  programs: Record<Style, string>;
  /** The cash register. */
  actor: Actor;
  /** The origin of the café's receiver. */
  receiver: string;
}

const concurrency = 24;
/** Events are processed when all acts of a span are made; until then no relay may take them, and no worker a batch. */
const leaseAheadMs = 120_000;
const signals = { shutdownSignal: new AbortController().signal, cancellationSignal: new AbortController().signal };

/** Processes events as the relay does. */
async function settle(deps: WorkerDeps, eventIds: readonly string[], owner = leaseOwner): Promise<void> {
  for (const ids of toChunks(eventIds)) {
    const lease = { leaseOwner: owner, fence: newFence() };
    const events = await leaseEvents(deps, { ...lease, eventIds: ids });
    const failed = await processEvents(deps, { ...lease, events });
    await releaseEvents(deps, { ...lease, events: events.filter(({ _id }) => failed.has(_id)) });
  }
}

export async function makeHistory(base: WorkerDeps, history: History): Promise<void> {
  const { story, merchantId } = history;
  const { since, bad } = story.webhook;
  const orders = { merchantId, url: ordersUrl(history.receiver, bad) };
  const leaseNow = () => later(base.now(), leaseAheadMs);
  const deps: WorkerDeps = { ...base, leaseNow, isHeardBy: ({ url }) => url === orders.url };
  const first = story.guests.slice(0, story.imported);
  const file = [
    csvLine(['firstName', 'lastName', 'email', 'initialPoints']),
    ...first.map(({ firstName, lastName, email, initialPoints }) =>
      csvLine([firstName, lastName, email, String(initialPoints)]),
    ),
  ].join('');
  await importFile(atTime(deps, story.importedAt), history, file);
  const members = await findMembers(deps, history);
  const [unheard, heard] = split(story.acts, since);
  const [beforeCampaign, afterCampaign] = split(unheard, story.campaign.at);
  await live(deps, { history, members, acts: beforeCampaign });
  await sendCampaign(deps, history);
  const [beforeFile, afterFile] = split(afterCampaign, story.second.at);
  await live(deps, { history, members, acts: beforeFile });
  await importFile(atTime(deps, story.second.at), history, story.second.csv);
  await live(deps, { history, members, acts: afterFile });

  await subscribeOrders(atTime(deps, since), orders);
  const [beforeBad, rest] = split(heard, bad.from);
  const [duringBad, afterBad] = split(rest, bad.to);
  await liveHeard(deps, { history, members, acts: beforeBad });
  const failing = await perform(deps, { history, members, acts: duringBad });
  await deliverBadHour(deps, { ...orders, told: failing });
  await liveHeard(deps, { history, members, acts: afterBad });
}

function split(acts: readonly Act[], time: Date): [Act[], Act[]] {
  return [acts.filter((act) => act.at < time), acts.filter((act) => act.at >= time)];
}

/** The id of the member of each guest who exists, by the guest's email. */
type Members = Map<string, string>;

async function findMembers(deps: WorkerDeps, { merchantId, story }: History): Promise<Members> {
  const known = new Set(story.guests.map(({ email }) => email));
  const rows = deps.collections.members.find({ merchantId }, { projection: { email: 1 } });
  const members: Members = new Map();
  for await (const { _id, email = '' } of rows) if (known.has(email)) members.set(email, _id);
  return members;
}

interface Live {
  history: History;
  members: Members;
  acts: readonly Act[];
}

/** Groups in the order of their first items. */
function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** Makes the acts, those of one guest in their order, and then processes their events. */
async function live(deps: WorkerDeps, given: Live): Promise<void> {
  const limit = pLimit(concurrency);
  const told = await perform(deps, given);
  const [visits, joins] = [told.filter(({ isJoin }) => !isJoin), told.filter(({ isJoin }) => isJoin)];
  // The card of somebody who joins is made at once.
  await Promise.all(joins.map(({ eventId, at }) => limit(() => settle(atTime(deps, later(at, 700)), [eventId]))));
  const last = visits.at(-1);
  if (last)
    await settle(
      atTime(deps, later(last.at, 700)),
      visits.map(({ eventId }) => eventId),
    );
}

/** The same, with each event at its own time: the café's receiver hears of it. */
async function liveHeard(deps: WorkerDeps, given: Live): Promise<void> {
  const limit = pLimit(concurrency);
  const told = await perform(deps, given);
  await Promise.all(
    told.map(({ eventId, at: time }) => limit(() => settle(atTime(deps, later(time, 300)), [eventId]))),
  );
}

async function perform(deps: WorkerDeps, { history, members, acts }: Live): Promise<(Told & { isJoin: boolean })[]> {
  const limit = pLimit(concurrency);
  const byGuest = groupBy(acts, ({ guest }) => guest);
  const told = await Promise.all(
    Array.from(byGuest.values(), (own) =>
      limit(async () => {
        const made: (Told & { isJoin: boolean })[] = [];
        for (const act of own) {
          const there = atTime(deps, act.at);
          const isJoin = act.kind === 'join';
          const eventId = isJoin
            ? await join(there, history, { act, members })
            : await come(there, history, { act, members });
          made.push({ eventId, at: act.at, isJoin });
        }
        return made;
      }),
    ),
  );
  return told.flat().toSorted((one, other) => one.at.getTime() - other.at.getTime());
}

interface Acting {
  act: Act;
  members: Members;
}

async function join(deps: WorkerDeps, { story, merchantId, programs }: History, { act, members }: Acting) {
  const guest = story.guests[act.guest];
  if (!guest) throw new Error('An act without a guest.');
  const { firstName, lastName, email, style } = guest;
  const program = await cachedProgram(deps, { merchantId, programId: programs[style] });
  const enrolled = await enrollMember(deps, {
    program,
    person: { firstName, lastName, email },
    source: 'public',
    attribution: {},
    actor: { type: 'public', id: programs[style] },
    chooseLeaseOwner: () => leaseOwner,
  });
  members.set(email, enrolled.member._id);
  return createdEventId(enrolled.member._id);
}

/** A visit, or a reward. Returns the id of its event. */
async function come(deps: WorkerDeps, { story, merchantId, actor }: History, { act, members }: Acting) {
  const { email = '', style = 'stamps' } = story.guests[act.guest] ?? {};
  const memberId = members.get(email) ?? '';
  const given = style === 'stamps' ? 'earn' : 'points';
  const operation = act.kind === 'reward' ? 'redeem' : given;
  const key = derivedId('cafe', email, act.kind, act.at.toISOString());
  const id = keyedChangeId(operation, memberId, key);
  const fingerprint = sha256(key);
  const asked = { actor, now: act.at };
  const rules = {
    redeem: () => redeemRule(undefined, asked),
    earn: () => earnRule({}, { ...asked, reader: earnedReader(deps) }),
    points: () => pointsRule({ delta: act.gives }, asked),
  };
  await changeMember(deps, {
    merchantId,
    memberId,
    keyedChange: { id, fingerprint, answer: () => ({ status: 200, body: Buffer.from('{}') }) },
    chooseLeaseOwner: () => leaseOwner,
    temporalAvailable: true,
    decide: rules[operation](),
  });
  return derivedId('event', id, fingerprint);
}

/**
 * Gives a batch that is about to end its start in the story. Until then it started by the clock of leases: for one that
 * started long ago and has not ended, a worker starts the workflow that it takes for lost.
 */
async function setStart(deps: WorkerDeps, _id: string): Promise<void> {
  await deps.collections.batches.updateOne({ _id }, { $set: { startedAt: deps.now() } });
}

async function importFile(deps: WorkerDeps, { merchantId, programs, actor }: History, csv: string): Promise<void> {
  const program = await cachedProgram(deps, { merchantId, programId: programs.stamps });
  const id = requestKeyId('import', merchantId, derivedId('cafe', csv));
  const key = { id, merchantId, fingerprint: sha256(csv), now: deps.now() };
  let batch = await findKeyedBatch(deps, key);
  if (!batch) {
    const file = { bytes: chunkOf(csv), charset: undefined };
    const limits = { maxBytes: csv.length * 2, maxRows: 1_000 };
    const read = await readRows({ file, program, ...limits });
    const { header, delimiter } = read;
    const opened = { merchantId, programId: program._id, header, delimiter, startedBy: actor };
    batch = await openImport(atTime(deps, leaseTime(deps)), opened);
    let chunk = 0;
    let total = 0;
    for await (const rows of read.chunks) {
      await storeChunk(deps, { batch, chunk, rows });
      chunk += 1;
      total += rows.length;
    }
    await queueImport(deps, { batchId: batch._id, chunks: chunk, total, key });
  }
  const step = { batchId: batch._id, from: 0, ...signals };
  await createImported(deps, step);
  await publishImported(deps, step);
  await setStart(deps, batch._id);
  const { eventId } = await finishImport(atTime(deps, later(deps.now(), 9_000)), { batchId: batch._id });
  await settle(deps, [eventId], importId(batch._id));
}

async function* chunkOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

async function sendCampaign(deps: WorkerDeps, { story, merchantId, programs, actor }: History): Promise<void> {
  const { campaign } = story;
  const there = atTime(deps, campaign.at);
  const batchId = derivedId('cafe', 'campaign', merchantId);
  if (!(await deps.collections.batches.findOne({ _id: batchId, merchantId }, { projection: { _id: 1 } })))
    await insertBatch(
      there,
      newBatchRow(atTime(deps, leaseTime(deps)), {
        ...{ _id: batchId, merchantId, kind: 'campaign', programId: programs.stamps, startedBy: actor },
        campaign: { message: campaign.message, tags: [] },
      }),
    );
  for (;;) {
    const { more } = await snapshotCampaign(there, { batchId, ...signals });
    if (!more) break;
  }
  await sendMessages(there, { batchId, from: 0, ...signals });
  await setStart(there, batchId);
  const { eventId } = await finishBatch(atTime(deps, later(campaign.at, 14_000)), { batchId, leaseOwner });
  await settle(there, [eventId]);
}
