// One version of one pass to all its devices. Each device is told once a version; one that is gone ends its registration,
// and one that could not be reached is told again, while the others are not. What APNs said is for the caller to write.
import type { DeviceRow, MemberRow } from '../../schemas/collections.js';
import type { PushAnswer } from '../apple/apns.js';
import type { WorkerDeps } from '../workerDeps.js';
import { endRegistration } from './endRegistration.js';
import type { DeviceNote } from './noteDevices.js';
import { firstRecheckMs } from './repush.js';
import type { AppleWallet } from './wallets.js';

export interface ApplePush {
  devicesAttempted: number;
  devicesNotified: number;
  /** True when a device has to be tried again. */
  unreached: boolean;
  /** Events of registrations that ended. */
  eventIds: string[];
  detail: string;
  /** To be written with what follows from them. */
  notes: DeviceNote[];
}

export interface PushApple {
  apple: AppleWallet;
  member: MemberRow;
  holder: string;
  /** How long APNs may take to answer for any of the devices. */
  withinMs: number;
}

export async function pushApple(deps: WorkerDeps, { apple, member, holder, withinMs }: PushApple): Promise<ApplePush> {
  const { tag } = member.pass;
  const devices = await deps.rows.devices.find({ memberId: member._id }).toArray();
  const isTold = ({ lastPush }: DeviceRow) => lastPush !== undefined && lastPush.tag >= tag;
  const untold = devices.filter((device) => !isTold(device));
  const answers = await apple.apns.push(
    untold.map((device) => device.pushToken),
    withinMs,
  );
  deps.crashPoint('after-push-before-record');

  const answered = untold.flatMap((device, index) => {
    const answer = answers[index];
    return answer ? [{ device, answer }] : [];
  });
  for (const { answer } of answered) deps.metrics.pass('apple', answer.outcome);
  const ended: string[] = [];
  for (const { device, answer } of answered) {
    if (answer.outcome !== 'gone') continue;
    const end = await endRegistration(deps, { device, holderOf: () => holder });
    if (end) ended.push(end.eventId);
  }

  const sent = answered.filter(({ answer }) => answer.outcome === 'sent').length;
  const before = devices.filter((device) => isTold(device) && device.lastPush?.status === 200).length;
  const troubles = answered.filter(({ answer }) => answer.outcome !== 'sent').map(({ answer }) => troubleOf(answer));
  const devicesNotified = sent + before;
  return {
    devicesAttempted: devices.length,
    devicesNotified,
    unreached: answered.some(({ answer }) => answer.outcome === 'retry'),
    eventIds: ended,
    detail: [`${devicesNotified} of ${devices.length} devices`, ...new Set(troubles)].join('; '),
    notes: notesOf(deps.now(), answered, tag),
  };
}

const troubleOf = ({ status, reason }: PushAnswer): string => [status, reason].filter(Boolean).join(' ');

/**
 * What APNs said, for the pass doctor and so that a device is not told twice of a version. One that was not reached stays
 * untold; one that APNs refused is looked at again with those that never fetch.
 */
function notesOf(now: Date, answered: readonly { device: DeviceRow; answer: PushAnswer }[], tag: Date): DeviceNote[] {
  const told = answered.filter(({ answer }) => answer.outcome === 'sent' || answer.outcome === 'rejected');
  return told.map(({ device, answer: { status, reason } }) => ({
    filter: { _id: device._id, pushToken: device.pushToken },
    change: {
      $set: {
        lastPush: { at: now, status: status ?? 0, tag, ...(reason !== undefined && { reason }) },
        recheckAt: new Date(now.getTime() + firstRecheckMs),
        recheckRound: 0,
      },
      $unset: { stale: '' },
    },
  }));
}
