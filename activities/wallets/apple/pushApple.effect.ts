// Pushes one version of a pass to all its devices. Each device is pushed once for each version. A device that is gone
// ends its registration. A device that could not be reached is pushed again by the next attempt, the others are not.
// The caller writes the answers of APNs to the database.

import type { MemberRow } from '../../../schemas/members/members.rows.js';
import type { DeviceRow } from '../../../schemas/wallets/wallets.rows.js';
import type { WorkerDeps } from '../../workerDeps.js';
import type { AppleWallet } from '../wallets.client.js';
import type { PushAnswer } from './apns.client.js';
import { endRegistration } from './endRegistration.writes.js';
import { isGone, lastPushOf } from './goneDevices.rules.js';
import { firstRecheckMs } from './recheckTimes.rules.js';
import type { DeviceUpdate } from './updateDevices.writes.js';

export interface ApplePush {
  devicesAttempted: number;
  devicesNotified: number;
  /** True when a device has to be pushed again. */
  unreached: boolean;
  /** The events of registrations that ended. */
  newEventIds: string[];
  detail: string;
  /** Updates of the devices, which the caller writes together with the other rows of the push. */
  deviceUpdates: DeviceUpdate[];
}

export interface PushApple {
  apple: AppleWallet;
  member: MemberRow;
  leaseOwner: string;
  /** How long APNs may take to answer for each device. */
  withinMs: number;
}

export async function pushApple(
  deps: WorkerDeps,
  { apple, member, leaseOwner, withinMs }: PushApple,
): Promise<ApplePush> {
  const { tag } = member.pass;
  const devices = await deps.collections.devices.find({ memberId: member._id }).toArray();
  const isNotified = ({ lastPush }: DeviceRow) => lastPush !== undefined && lastPush.tag >= tag;
  const pending = devices.filter((device) => !isNotified(device));
  const answers = await apple.apns.push(
    pending.map((device) => device.pushToken),
    withinMs,
  );
  deps.crashPoint('after-push-before-record');

  const answered = pending.flatMap((device, index) => {
    const answer = answers[index];
    return answer ? [{ device, answer }] : [];
  });
  for (const { answer } of answered) deps.metrics.pass('apple', answer.outcome);
  const ended: string[] = [];
  for (const { device, answer } of answered) {
    if (!isGone(apple, { device, answer, now: deps.now() })) continue;
    const end = await endRegistration(deps, { device, chooseLeaseOwner: () => leaseOwner });
    if (end) ended.push(end.eventId);
  }

  const sent = answered.filter(({ answer }) => answer.outcome === 'sent').length;
  const before = devices.filter((device) => isNotified(device) && device.lastPush?.status === 200).length;
  const failureReasons = answered
    .filter(({ answer }) => answer.outcome !== 'sent')
    .map(({ answer }) => failureReason(answer));
  const devicesNotified = sent + before;
  return {
    devicesAttempted: devices.length,
    devicesNotified,
    unreached: answered.some(({ answer }) => answer.outcome === 'retry'),
    newEventIds: ended,
    detail: [`${devicesNotified} of ${devices.length} devices`, ...new Set(failureReasons)].join('; '),
    deviceUpdates: deviceUpdatesOf(deps.now(), answered, tag),
  };
}

const failureReason = ({ status, reason }: PushAnswer): string => [status, reason].filter(Boolean).join(' ');

/**
 * The answers of APNs, for the pass doctor and to push no device twice for one version. A device that was not reached
 * gets no update, so the next attempt pushes it again. A device that APNs rejected is checked again like those that do
 * not fetch (repush.activity.ts).
 */
function deviceUpdatesOf(
  now: Date,
  answered: readonly { device: DeviceRow; answer: PushAnswer }[],
  tag: Date,
): DeviceUpdate[] {
  const delivered = answered.filter(({ answer }) => answer.outcome === 'sent' || answer.outcome === 'rejected');
  return delivered.map(({ device, answer }) => ({
    filter: { _id: device._id, pushToken: device.pushToken },
    change: {
      $set: {
        lastPush: lastPushOf({ device, answer, now }, tag),
        recheckAt: new Date(now.getTime() + firstRecheckMs),
        recheckRound: 0,
      },
      $unset: { stale: '' },
    },
  }));
}
