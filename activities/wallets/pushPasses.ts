// Telling the wallets what changed: recorded on each event once, with its lines in the timeline. What the transaction already
// knew (stub mode, nobody to reach) is only written down. A wallet that could not be reached holds up nothing: its
// events are named as late, go out with `passUpdate: null`, and are pushed until it takes them.
import type { EventRow, MemberRow } from '../../schemas/collections.js';
import { derivedId } from '../../schemas/ids.js';
import type { PassUpdate } from '../../schemas/passUpdate.js';
import type { Program } from '../../schemas/programs.js';
import type { PushedPasses } from '../../schemas/workflows.js';
import { type Claim, holdEvents } from '../claimEvents.js';
import { insertNew } from '../insertNew.js';
import { frozen, newEvent } from '../newEvent.js';
import { recentProgram } from '../programs.js';
import { insertUnlessThere, type Statement, update, writeTogether } from '../transact.js';
import { modesOf } from '../walletModes.js';
import type { WorkerDeps } from '../workerDeps.js';
import { noteStatements } from './noteDevices.js';
import { pushApple } from './pushApple.js';
import { pushGoogle } from './pushGoogle.js';
import { pushLines, skippedLines } from './pushTimeline.js';

/** While somebody waits for the answer: most of what the API waits, so that what was heard in time is told in time. */
const firstTryMs = (deps: WorkerDeps): number => Math.round(deps.config.PASS_UPDATE_WAIT_MS * 0.75);
/** Nobody waits any more. */
const lateTryMs = 10_000;

export async function pushPasses(deps: WorkerDeps, claim: Claim): Promise<PushedPasses> {
  const events = await holdEvents(deps, { ...claim, forMs: firstTryMs(deps) });
  return pushClaimed(deps, { holder: claim.holder, events });
}

/** Events must be claimed by `holder`. */
export async function pushClaimed(
  deps: WorkerDeps,
  { holder, events }: { holder: string; events: EventRow[] },
): Promise<PushedPasses> {
  const result: PushedPasses = { passUpdates: {}, eventIds: [], late: [] };
  const quiet = events.filter((event) => event.wallet === 'push' && event.passUpdate);
  for (const event of quiet) if (event.passUpdate) result.passUpdates[event._id] = event.passUpdate;
  await insertNew(deps.rows.timeline, quiet.flatMap(skippedLines));
  await Promise.all(
    events.filter(isOwed).map(async (event) => {
      const pushed = await pushOne(deps, { event, holder, turn: 'first', withinMs: firstTryMs(deps) });
      if (!pushed) return;
      result.eventIds.push(...pushed.eventIds);
      if (pushed.unreached) result.late.push(event._id);
      else if (event.wallet === 'push') result.passUpdates[event._id] = pushed.passUpdate;
    }),
  );
  return result;
}

const isOwed = ({ wallet, passUpdate }: EventRow): boolean =>
  wallet === 'refresh' || (wallet === 'push' && !passUpdate);

/** For events that may have been published already: pushes what is still owed. Throws while a wallet cannot be reached. */
export async function pushLate(deps: WorkerDeps, { holder, eventIds }: Claim): Promise<{ eventIds: string[] }> {
  const events = await deps.rows.events.find({ _id: { $in: [...eventIds] } }).toArray();
  const made: string[] = [];
  const owed: string[] = [];
  for (const event of events.filter(isOwed)) {
    const pushed = await pushOne(deps, { event, holder, turn: 'late', withinMs: lateTryMs });
    made.push(...(pushed?.eventIds ?? []));
    if (pushed?.unreached) owed.push(event._id);
  }
  if (owed.length > 0)
    throw new Error(`The wallets could not be reached for ${owed.length} of ${events.length} changes.`);
  return { eventIds: made };
}

interface PushOne {
  event: EventRow;
  holder: string;
  turn: 'first' | 'late';
  withinMs: number;
}

interface Pushed {
  passUpdate: PassUpdate;
  unreached: boolean;
  eventIds: string[];
}

/** Null when the member is no longer there. */
async function pushOne(deps: WorkerDeps, push: PushOne): Promise<Pushed | null> {
  const { event, holder, turn } = push;
  const { merchantId, memberId = '' } = event;
  const member = await deps.rows.members.findOne({ _id: memberId, merchantId });
  if (!member) return null;
  const program = await recentProgram(deps, member);
  const [toDevices, toObject] = await Promise.all([
    tellDevices(deps, push, member, program),
    tellGoogle(deps, push, member, program),
  ]);
  if (toObject) deps.metrics.pass('google', toObject.answer);

  const modes = modesOf(deps.walletModes, program);
  const { apple } = deps.wallets;
  const passUpdate: PassUpdate = {
    serialNumber: member.serialNumber,
    lastUpdateTag: member.pass.tag.toISOString(),
    rebuilt: apple !== null && modes.apple === 'real' && rebuilds(() => apple.build(member, program)),
    apple: {
      devicesNotified: toDevices?.devicesNotified ?? 0,
      devicesAttempted: toDevices?.devicesAttempted ?? member.deviceCount,
      mode: modes.apple,
    },
    google: { objectPatched: toObject?.objectPatched ?? false, mode: modes.google },
  };
  const unreached = toDevices?.unreached === true || toObject?.unreached === true;
  const updated = event.wallet === 'push' ? updatedEvents(deps, { event, member, holder, passUpdate }) : [];
  const lines = [
    ...(event.wallet === 'push' ? skippedLines({ ...event, passUpdate }) : []),
    ...pushLines(event, { toDevices, toObject, late: turn === 'late' && deps.now() }),
  ];
  // With one commit: somebody waits for it.
  await writeTogether(deps, [
    ...noteStatements(deps, toDevices?.notes ?? []),
    ...lines.map((line) => insertUnlessThere(deps, 'timeline', line)),
    ...updated.map((made) => insertUnlessThere(deps, 'events', made)),
    ...(unreached ? [] : toldStatements(deps, { ...event, passUpdate }, turn)),
  ]);
  return { passUpdate, unreached, eventIds: [...(toDevices?.eventIds ?? []), ...updated.map((made) => made._id)] };
}

/** What is known now, and with it the event's bytes; what is known late comes after the event was told without. */
function toldStatements(deps: WorkerDeps, event: EventRow, turn: PushOne['turn']): Statement[] {
  const { _id, passUpdate } = event;
  const untold = { _id, passUpdate: { $exists: false } };
  const unfrozen = { ...untold, envelope: { $exists: false } };
  return [
    ...(turn === 'first' ? [update(deps, 'events', unfrozen, { $set: { passUpdate, ...frozen(event) } })] : []),
    update(deps, 'events', untold, { $set: { passUpdate } }),
  ];
}

async function tellDevices(
  deps: WorkerDeps,
  { event, holder, withinMs }: PushOne,
  member: MemberRow,
  program: Program,
) {
  const { apple } = deps.wallets;
  if (!apple || event.wallet !== 'push' || modesOf(deps.walletModes, program).apple === 'stub') return null;
  return pushApple(deps, { apple, member, holder, withinMs });
}

/** A pass that was just saved is refreshed though its program's pushes are off: the customer looks at it now. */
async function tellGoogle(deps: WorkerDeps, { event, turn, withinMs }: PushOne, member: MemberRow, program: Program) {
  const { google } = deps.wallets;
  const { changeMessage } = event.data;
  const modes = event.wallet === 'refresh' ? deps.walletModes : modesOf(deps.walletModes, program);
  if (!google || modes.google === 'stub' || !member.pass.googleSaved) return null;
  const body = typeof changeMessage === 'string' ? changeMessage : '';
  return pushGoogle(google, {
    member,
    program,
    readAgain: () => deps.rows.members.findOne({ _id: member._id, merchantId: member.merchantId }),
    message: body === '' ? undefined : { id: event._id, body },
    notify: event.wallet === 'push',
    again: turn === 'late',
    withinMs,
  });
}

/** The pass itself is built when the phone asks for it; here only whether it can be. */
function rebuilds(build: () => Buffer): boolean {
  try {
    build();
    return true;
  } catch {
    return false;
  }
}

function updatedEvents(
  deps: WorkerDeps,
  { event, member, holder, passUpdate }: { event: EventRow; member: MemberRow; holder: string; passUpdate: PassUpdate },
): EventRow[] {
  const platforms = [
    ...(passUpdate.apple.devicesNotified > 0 ? (['apple'] as const) : []),
    ...(passUpdate.google.objectPatched ? (['google'] as const) : []),
  ];
  return platforms.map((platform) =>
    newEvent(deps, {
      eventId: derivedId('pass.updated', event._id, platform),
      type: 'pass.updated',
      member,
      data: { serialNumber: member.serialNumber, platform },
      holder,
    }),
  );
}
