// Pushes one version of a pass to all its devices. Each device is pushed once for each version. A device that could not
// be reached is pushed again by the next attempt, the others are not. The caller writes the answers of APNs to the
// database.

import type { MemberRow } from '../../../schemas/members/members.rows.js';
import type { DeviceRow } from '../../../schemas/wallets/wallets.rows.js';
import type { WorkerDeps } from '../../workerDeps.js';
import type { AppleWallet } from '../wallets.client.js';
import type { PushAnswer } from './apns.client.js';
import { type Answered, type Phone, pushPhones } from './pushPhones.effect.js';
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
  /** How long reading the devices and pushing to them may take. */
  withinMs: number;
}

export async function pushApple(
  deps: WorkerDeps,
  { apple, member, leaseOwner, withinMs }: PushApple,
): Promise<ApplePush> {
  const { tag } = member.pass;
  // From before the devices are read: another process may push to them once this one is paused for longer.
  const deadline = Date.now() + withinMs;
  const devices = await deps.collections.devices.find({ memberId: member._id }).toArray();
  const isNotified = ({ lastPush }: DeviceRow) => lastPush !== undefined && lastPush.tag >= tag;
  const phones = devices.filter((device) => !isNotified(device)).map((device) => ({ device, member }));
  const { pushed, newEventIds } = await pushPhones(deps, { apple, phones, leaseOwner, deadline });

  const failures = pushed.filter(({ answer }) => answer.outcome !== 'sent').map(({ answer }) => failureReason(answer));
  const before = devices.filter((device) => isNotified(device) && device.lastPush?.status === 200).length;
  const devicesNotified = pushed.length - failures.length + before;
  return {
    devicesAttempted: devices.length,
    devicesNotified,
    unreached: pushed.some(({ answer }) => answer.outcome === 'retry'),
    newEventIds,
    detail: [`${devicesNotified} of ${devices.length} devices`, ...new Set(failures)].join('; '),
    deviceUpdates: deviceUpdatesOf(deps.now(), pushed),
  };
}

const failureReason = ({ status, reason }: PushAnswer): string => [status, reason].filter(Boolean).join(' ');

/**
 * The answers of APNs, for the pass doctor and to push no device twice for one version. A device that was not reached
 * gets no update, so the next attempt pushes it again. A device that APNs rejected is checked again like those that do
 * not fetch (repush.activity.ts).
 */
function deviceUpdatesOf(now: Date, pushed: readonly (Phone & Answered)[]): DeviceUpdate[] {
  const delivered = pushed.filter(({ answer }) => answer.outcome === 'sent' || answer.outcome === 'rejected');
  return delivered.map(({ device, lastPush }) => ({
    filter: { _id: device._id, pushToken: device.pushToken },
    change: {
      $set: { lastPush, recheckAt: new Date(now.getTime() + firstRecheckMs), recheckRound: 0 },
      $unset: { stale: '' },
    },
  }));
}
