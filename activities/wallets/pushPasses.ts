// Telling the wallets what changed: recorded on each event once, with its lines in the timeline. What the transaction already
// knew (stub mode, nobody to reach) is only written down. A wallet that could not be reached holds up nothing: its
// events are named as late, go out with `passUpdate: null`, and are pushed until it takes them.
import type { EventRow, TimelineRow } from '../../schemas/collections.js';
import { derivedId } from '../../schemas/ids.js';
import type { PassUpdate, Platform } from '../../schemas/passUpdate.js';
import type { PushedPasses } from '../../schemas/workflows.js';
import { type Claim, claimEvents } from '../claimEvents.js';
import { insertNew } from '../insertNew.js';
import { newEvent } from '../newEvent.js';
import { recentProgram } from '../programs.js';
import { timelineRow } from '../timelineRow.js';
import { modesOf } from '../walletModes.js';
import type { WorkerDeps } from '../workerDeps.js';
import { type ApplePush, pushApple } from './pushApple.js';
import { type GooglePush, pushGoogle } from './pushGoogle.js';

export async function pushPasses(deps: WorkerDeps, claim: Claim): Promise<PushedPasses> {
  const events = await claimEvents(deps, claim);
  return pushClaimed(deps, { holder: claim.holder, events });
}

/** Events must be claimed by `holder`. */
export async function pushClaimed(
  deps: WorkerDeps,
  { holder, events }: { holder: string; events: EventRow[] },
): Promise<PushedPasses> {
  const toPush = events.filter((event) => event.wallet === 'push');
  const result: PushedPasses = { passUpdates: {}, eventIds: [], late: [] };
  const quiet = toPush.filter((event) => event.passUpdate);
  for (const event of quiet) if (event.passUpdate) result.passUpdates[event._id] = event.passUpdate;
  await insertNew(deps.rows.timeline, quiet.flatMap(skippedLines));
  await Promise.all(
    toPush
      .filter((event) => !event.passUpdate)
      .map(async (event) => {
        const pushed = await pushOne(deps, { event, holder, again: false });
        if (!pushed) return;
        result.eventIds.push(...pushed.eventIds);
        if (pushed.unreached) result.late.push(event._id);
        else result.passUpdates[event._id] = pushed.passUpdate;
      }),
  );
  return result;
}

/** For events that may have been published already: pushes what is still owed. Throws while a wallet cannot be reached. */
export async function pushLate(deps: WorkerDeps, { holder, eventIds }: Claim): Promise<{ eventIds: string[] }> {
  const events = await deps.rows.events.find({ _id: { $in: [...eventIds] } }).toArray();
  const made: string[] = [];
  const owed: string[] = [];
  for (const event of events) {
    const pushed = event.passUpdate ? null : await pushOne(deps, { event, holder, again: true });
    made.push(...(pushed?.eventIds ?? []));
    if (pushed?.unreached) owed.push(event._id);
  }
  if (owed.length > 0)
    throw new Error(`The wallets could not be reached for ${owed.length} of ${events.length} changes.`);
  return { eventIds: made };
}

interface Pushed {
  passUpdate: PassUpdate;
  unreached: boolean;
  eventIds: string[];
}

/** Null when the member is no longer there. */
async function pushOne(
  deps: WorkerDeps,
  { event, holder, again }: { event: EventRow; holder: string; again: boolean },
): Promise<Pushed | null> {
  const { merchantId, memberId = '' } = event;
  const member = await deps.rows.members.findOne({ _id: memberId, merchantId });
  if (!member) return null;
  const program = await recentProgram(deps, member);
  const modes = modesOf(deps.walletModes, program);
  const { changeMessage } = event.data;
  const message =
    typeof changeMessage === 'string' && changeMessage ? { id: event._id, body: changeMessage } : undefined;
  const { apple, google } = deps.wallets;
  const [toDevices, toObject] = await Promise.all([
    apple && modes.apple === 'real' ? pushApple(deps, { apple, member, holder }) : null,
    google && modes.google === 'real' && member.pass.googleSaved
      ? pushGoogle(google, { member, program, message, again })
      : null,
  ]);
  if (toObject) deps.metrics.pass('google', toObject.answer);
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
  await insertNew(deps.rows.timeline, [
    ...skippedLines({ ...event, passUpdate }),
    ...lines(event, { toDevices, toObject, unreached }),
  ]);
  const updated = [
    ...(toDevices && toDevices.devicesNotified > 0 ? (['apple'] as const) : []),
    ...(toObject?.objectPatched ? (['google'] as const) : []),
  ].map((platform) =>
    newEvent(deps, {
      eventId: derivedId('pass.updated', event._id, platform),
      type: 'pass.updated',
      member,
      data: { serialNumber: member.serialNumber, platform },
      holder,
    }),
  );
  await insertNew(deps.rows.events, updated);
  if (!unreached) {
    await deps.rows.events.updateOne({ _id: event._id, passUpdate: { $exists: false } }, { $set: { passUpdate } });
  }
  return { passUpdate, unreached, eventIds: [...(toDevices?.eventIds ?? []), ...updated.map((made) => made._id)] };
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

const pushLines: Record<Platform, string> = { apple: 'push_sent', google: 'google_object_patched' };

/** decisions.md: in stub mode each change leaves both lines with outcome `skipped`, devices or not. */
function skippedLines(event: EventRow): TimelineRow[] {
  const { passUpdate, memberId } = event;
  if (!passUpdate || !memberId) return [];
  return (['apple', 'google'] as const)
    .filter((platform) => passUpdate[platform].mode === 'stub')
    .map((platform) => timelineRow(event, { memberId, type: pushLines[platform], outcome: 'skipped', platform }));
}

interface Results {
  toDevices: ApplePush | null;
  toObject: GooglePush | null;
  unreached: boolean;
}

/** While a wallet is still being tried there is nothing to say of it yet. */
function lines(event: EventRow, { toDevices, toObject }: Results): TimelineRow[] {
  const { memberId = '' } = event;
  const rows: TimelineRow[] = [];
  if (toDevices && !toDevices.unreached && toDevices.devicesAttempted > 0) {
    const outcome = toDevices.devicesNotified > 0 ? 'success' : 'failure';
    rows.push(
      timelineRow(event, { memberId, type: pushLines.apple, outcome, platform: 'apple', detail: toDevices.detail }),
    );
  }
  if (toObject && !toObject.unreached) {
    const outcome = toObject.objectPatched ? 'success' : 'failure';
    rows.push(
      timelineRow(event, {
        memberId,
        type: pushLines.google,
        outcome,
        platform: 'google',
        ...(toObject.detail && { detail: toObject.detail }),
      }),
    );
  }
  return rows;
}
