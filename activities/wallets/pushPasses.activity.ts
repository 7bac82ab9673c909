// Pushes changed passes to the wallets. The result of a push is recorded once on its event, together with its timeline
// lines. When the transaction of the change already knew that there is nothing to push (stub mode, no device), only the
// timeline is written. A wallet that cannot be reached delays nothing else: its events are returned as late, are
// published with `passUpdate: null`, and are pushed again until the wallet accepts them.

import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import { insertIfAbsent, update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { passUpdatedEventId } from '../../schemas/shared/ids.js';
import type { PassUpdate, Platform, WalletModes } from '../../schemas/shared/passUpdate.schema.js';
import type { PushedPasses } from '../../schemas/tables/workflows.js';
import { modesOf } from '../../schemas/wallets/walletModes.rules.js';
import { isPushPending } from '../events/isPushPending.rules.js';
import { ensureLease, type Lease } from '../events/leases.writes.js';
import { clearPushDue, markPushDue } from '../events/lostRetries.writes.js';
import { newMemberEvent, serialisedEnvelope } from '../events/newEvent.rules.js';
import { workflowLostAt } from '../events/workflowLostAt.rules.js';
import { withoutDue } from '../members/expireDue.writes.js';
import { cachedProgram } from '../programs/program.reads.js';
import type { WorkerDeps } from '../workerDeps.js';
import { type ApplePush, pushApple } from './apple/pushApple.effect.js';
import { deviceStatements } from './apple/updateDevices.writes.js';
import { type GooglePush, type PushGoogle, pushGoogle } from './google/pushGoogle.effect.js';
import { recordReconciledSave } from './google/saves.writes.js';
import { countLatePushes } from './pushOutcomes.writes.js';
import { pushLines, skippedLines } from './pushTimeline.rules.js';

/**
 * The limit of a first attempt, for whose result a caller of the API may wait: 75 % of that wait, which leaves time to
 * record and return the result.
 */
const firstAttemptMs = (deps: WorkerDeps): number => Math.round(deps.config.PASS_UPDATE_WAIT_MS * 0.75);
/** The limit of a late attempt; no caller waits for it. */
const lateAttemptMs = 10_000;

export async function pushPasses(deps: WorkerDeps, lease: Lease): Promise<PushedPasses> {
  const events = await ensureLease(deps, { ...lease, forMs: firstAttemptMs(deps) });
  const { newEventIds, ...result } = await pushLeased(deps, { leaseOwner: lease.leaseOwner, events });
  return { ...result, newEventIds: [...newEventIds, ...events.flatMap(updatedEventIds)] };
}

/**
 * The events of a push that was recorded before. Its run may have died, or lost its workflow task, before it returned
 * them. Not for the relay, which takes them when they are due.
 */
const updatedEventIds = ({ _id, passUpdate }: EventRow): string[] =>
  passUpdate ? updatedPlatforms(passUpdate).map((platform) => passUpdatedEventId(_id, platform)) : [];

/** `leaseOwner` must hold the lease of the events. */
export async function pushLeased(
  deps: WorkerDeps,
  { leaseOwner, events }: { leaseOwner: string; events: EventRow[] },
): Promise<PushedPasses> {
  const result: PushedPasses = { passUpdates: {}, newEventIds: [], late: [] };
  const withoutPush = events.filter((event) => event.passAction === 'push' && event.passUpdate);
  for (const event of withoutPush) if (event.passUpdate) result.passUpdates[event._id] = event.passUpdate;
  await insertMissing(deps.collections.timeline, withoutPush.flatMap(skippedLines));
  await Promise.all(
    events.filter(isPushPending).map(async (event) => {
      const pushed = await pushOne(deps, { event, leaseOwner, isLate: false, withinMs: firstAttemptMs(deps) });
      if (!pushed) return;
      result.newEventIds.push(...pushed.newEventIds);
      if (pushed.unreached) result.late.push(event._id);
      else result.passUpdates[event._id] = pushed.passUpdate;
    }),
  );
  return result;
}

/**
 * Pushes the events whose push is not recorded yet; they may have been published already. Throws while a wallet
 * cannot be reached.
 */
export async function pushLate(deps: WorkerDeps, { leaseOwner, eventIds }: Lease): Promise<{ newEventIds: string[] }> {
  const events = await deps.collections.events.find({ _id: { $in: [...eventIds] } }).toArray();
  const made: string[] = [];
  const pending: string[] = [];
  await markPushDue(
    deps,
    events.filter(isPushPending).map(({ _id }) => _id),
  );
  for (const event of events) {
    const push = { event, leaseOwner, isLate: true, withinMs: lateAttemptMs } as const;
    const pushed = isPushPending(event) ? await pushOne(deps, push) : null;
    made.push(...(pushed?.newEventIds ?? updatedEventIds(event)));
    if (pushed?.unreached) pending.push(event._id);
    // Also for a push that an earlier attempt recorded, because that attempt may have died before the push was counted.
    else await countLatePushes(deps, [pushed ? { ...event, passUpdate: pushed.passUpdate } : event]);
  }
  await clearPushDue(
    deps,
    eventIds.filter((id) => !pending.includes(id)),
  );
  if (pending.length > 0)
    throw new Error(`The wallets could not be reached for ${pending.length} of ${events.length} changes.`);
  return { newEventIds: made };
}

interface PushOne {
  event: EventRow;
  leaseOwner: string;
  /** A late push follows a first attempt that failed; its event says `passUpdate: null`. */
  isLate: boolean;
  withinMs: number;
}

interface Pushed {
  passUpdate: PassUpdate;
  unreached: boolean;
  newEventIds: string[];
}

/** Returns null when the member no longer exists. */
async function pushOne(deps: WorkerDeps, push: PushOne): Promise<Pushed | null> {
  const { event, leaseOwner, isLate } = push;
  const { merchantId, memberId = '' } = event;
  const readMember = async () => {
    const found = await deps.collections.members.findOne({ _id: memberId, merchantId });
    const [shown] = found ? await withoutDue(deps, [found]) : [];
    return shown ?? null;
  };
  const member = await readMember();
  if (!member) return null;
  const program = await cachedProgram(deps, member);
  const modes = modesOfPush(deps, event, program);
  const { apple } = deps.wallets;
  const [toDevices, toObject, rebuilt] = await Promise.all([
    pushToDevices(deps, push, member, program),
    pushToGoogle(deps, push, { member, program, readAgain: readMember }),
    apple !== null && modes.apple === 'real' && rebuilds(apple.build(member, program)),
  ]);
  if (toObject) deps.metrics.pass('google', toObject.answer);
  if (toObject?.acceptedAt && event.passAction === 'push')
    deps.metrics.face({ wallet: 'google', changedAt: event.occurredAt, at: toObject.acceptedAt });

  const passUpdate: PassUpdate = {
    serialNumber: member.serialNumber,
    lastUpdateTag: member.pass.tag.toISOString(),
    rebuilt,
    apple: {
      devicesNotified: toDevices?.devicesNotified ?? 0,
      devicesAttempted: toDevices?.devicesAttempted ?? member.deviceCount,
      mode: modes.apple,
    },
    google: { objectPatched: toObject?.objectPatched ?? false, mode: modes.google },
  };
  const unreached = toDevices?.unreached === true || toObject?.unreached === true;
  const updated = event.passAction === 'push' ? passUpdatedEvents(deps, { event, member, leaseOwner, passUpdate }) : [];
  const lines = [
    ...(event.passAction === 'push' ? skippedLines({ ...event, passUpdate }) : []),
    ...pushLines(event, { toDevices, toObject, late: isLate && deps.now() }),
  ];
  // One commit for all rows, because a caller may be waiting for it.
  await writeBulk(deps, [
    ...deviceStatements(deps, toDevices?.deviceUpdates ?? []),
    ...lines.map((line) => insertIfAbsent(deps, 'timeline', line)),
    ...updated.map((made) => insertIfAbsent(deps, 'events', made)),
    ...(unreached
      ? [update(deps, 'events', unpushed(event), { $set: { pushDueAt: workflowLostAt(deps) } })]
      : passUpdateStatements(deps, { ...event, passUpdate }, isLate)),
    ...owedStatements(deps, { event, member, program, toDevices, toObject }),
  ]);
  // Google is only asked about a member who had saved the card, so this answer is newer than the member's row.
  if (toObject?.hasUsers === false) await recordReconciledSave(deps, { member, saved: false });
  return {
    passUpdate,
    unreached,
    newEventIds: [...(toDevices?.newEventIds ?? []), ...updated.map((made) => made._id)],
  };
}

interface Told {
  event: EventRow;
  member: MemberRow;
  program: Program;
  /** Null when the wallet was not asked. */
  toDevices: ApplePush | null;
  toObject: GooglePush | null;
}

/** What a wallet was not told, and will not be by a late push, stays owed. */
function owedStatements(deps: WorkerDeps, { event, member, program, toDevices, toObject }: Told): Statement[] {
  const isPush = event.passAction === 'push' && program.pushMessages;
  const owesPhones = isPush && member.deviceCount > 0 && !toDevices;
  const isRefused = toObject !== null && toObject.answer !== 'patched' && !toObject.unreached;
  const owesObject = isRefused || (!toObject && member.pass.googleSaved && (isPush || event.passAction === 'refresh'));
  const owed = {
    ...(owesPhones && { 'pass.appleDueAt': deps.now() }),
    ...(owesObject && { 'pass.googleDueAt': deps.now() }),
  };
  const { _id, merchantId } = member;
  return Object.keys(owed).length > 0 ? [update(deps, 'members', { _id, merchantId }, { $set: owed })] : [];
}

/** Another attempt may have recorded its result since. */
const unpushed = ({ _id }: EventRow) => ({ _id, passUpdate: { $exists: false } });

/**
 * Records the result of a push and, unless they exist, the bytes of the event. A late push may end before its event is
 * published; the event says `passUpdate: null` then too, as the answer did.
 */
function passUpdateStatements(deps: WorkerDeps, event: EventRow, isLate: boolean): Statement[] {
  const { passUpdate } = event;
  const unconfirmed = unpushed(event);
  const unserialised = { ...unconfirmed, envelope: { $exists: false } };
  const { passUpdate: _, ...unanswered } = event;
  const envelope = serialisedEnvelope(isLate ? unanswered : event);
  return [
    update(deps, 'events', unserialised, { $set: { passUpdate, ...envelope } }),
    update(deps, 'events', unconfirmed, { $set: { passUpdate } }),
  ];
}

/** The program's switch is for messages, and does not stop an update that has to arrive. */
const modesOfPush = ({ walletModes }: WorkerDeps, { mandatory }: EventRow, program: Program): WalletModes =>
  mandatory ? walletModes : modesOf(walletModes, program);

async function pushToDevices(
  deps: WorkerDeps,
  { event, leaseOwner, withinMs }: PushOne,
  member: MemberRow,
  program: Program,
) {
  const { apple } = deps.wallets;
  if (!apple || event.passAction !== 'push' || modesOfPush(deps, event, program).apple === 'stub') return null;
  return pushApple(deps, { apple, member, leaseOwner, withinMs });
}

/**
 * An event `refresh` (the pass was just saved) is pushed even when the program's pushes are off, because the customer
 * is looking at the pass now.
 */
async function pushToGoogle(
  deps: WorkerDeps,
  { event, withinMs }: PushOne,
  { member, program, readAgain }: Pick<PushGoogle, 'member' | 'program' | 'readAgain'>,
) {
  const { google } = deps.wallets;
  const { changeMessage } = event.data;
  const modes = event.passAction === 'refresh' ? deps.walletModes : modesOfPush(deps, event, program);
  if (!google || modes.google === 'stub' || !member.pass.googleSaved) return null;
  const body = typeof changeMessage === 'string' ? changeMessage : '';
  return pushGoogle(google, {
    member,
    program,
    readAgain,
    message: body === '' ? undefined : { id: event._id, body },
    notify: isNewBalance(event),
    now: deps.now,
    withinMs,
  });
}

/** Google's own notice says that the points have changed. */
const isNewBalance = ({ passAction, data: { previous, current } }: EventRow): boolean =>
  passAction === 'push' && typeof current === 'number' && current !== previous;

/** Whether the pass can be built. The file itself is built when the phone requests it. */
const rebuilds = (build: Promise<Buffer>): Promise<boolean> =>
  build.then(
    () => true,
    () => false,
  );

const updatedPlatforms = ({ apple, google }: PassUpdate): Platform[] => [
  ...(apple.devicesNotified > 0 ? (['apple'] as const) : []),
  ...(google.objectPatched ? (['google'] as const) : []),
];

function passUpdatedEvents(
  deps: WorkerDeps,
  {
    event,
    member,
    leaseOwner,
    passUpdate,
  }: { event: EventRow; member: MemberRow; leaseOwner: string; passUpdate: PassUpdate },
): EventRow[] {
  return updatedPlatforms(passUpdate).map((platform) =>
    newMemberEvent(deps, {
      eventId: passUpdatedEventId(event._id, platform),
      event: { type: 'pass.updated', data: { serialNumber: member.serialNumber, platform } },
      member,
      leaseOwner,
    }),
  );
}
