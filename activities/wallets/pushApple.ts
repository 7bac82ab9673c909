// One version of one pass to all its devices. Each device is told once a version; one that is gone ends its registration,
// and one that could not be reached is told again, while the others are not.
import type { DeviceRow, MemberRow } from '../../schemas/collections.js';
import type { WorkerDeps } from '../workerDeps.js';
import { endRegistration } from './endRegistration.js';
import type { AppleWallet } from './wallets.js';

export interface ApplePush {
  devicesAttempted: number;
  devicesNotified: number;
  /** True when a device has to be tried again. */
  unreached: boolean;
  /** Events of registrations that ended. */
  eventIds: string[];
  detail: string;
}

/** How long a phone may take to fetch before it is pushed again (see repush.ts). */
const firstRecheckMs = 60_000;

export async function pushApple(
  deps: WorkerDeps,
  { apple, member, holder }: { apple: AppleWallet; member: MemberRow; holder: string },
): Promise<ApplePush> {
  const { tag } = member.pass;
  const devices = await deps.rows.devices.find({ memberId: member._id }).toArray();
  const untold = devices.filter((device) => !device.lastPush?.tag || device.lastPush.tag < tag);
  const answers = await apple.apns.push(untold.map((device) => device.pushToken));
  deps.crashPoint('after-push-before-record');

  const now = deps.now();
  const result: ApplePush = {
    devicesAttempted: devices.length,
    devicesNotified: devices.length - untold.length,
    unreached: false,
    eventIds: [],
    detail: '',
  };
  const reasons: string[] = [];
  const told: { device: DeviceRow; status: number; sent: boolean; reason: string | undefined }[] = [];
  for (const [index, answer] of answers.entries()) {
    const device = untold[index];
    if (!device) continue;
    deps.metrics.pass('apple', answer.outcome);
    if (answer.outcome === 'sent') result.devicesNotified += 1;
    if (answer.outcome === 'retry') result.unreached = true;
    if (answer.outcome !== 'sent') reasons.push(answer.reason ?? String(answer.status));
    if (answer.outcome === 'gone') {
      const ended = await endRegistration(deps, { device, holderOf: () => holder });
      if (ended) result.eventIds.push(ended.eventId);
    } else if (answer.outcome !== 'retry') {
      told.push({ device, status: answer.status ?? 0, sent: answer.outcome === 'sent', reason: answer.reason });
    }
  }
  if (told.length > 0) {
    await deps.rows.devices.bulkWrite(
      told.map(({ device, status, sent, reason }) => ({
        updateOne: {
          filter: { _id: device._id },
          update: {
            $set: {
              lastPush: { at: now, status, tag, ...(reason !== undefined && { reason }) },
              ...(sent && { recheckAt: new Date(now.getTime() + firstRecheckMs), recheckRound: 0 }),
            },
          },
        },
      })),
      { ordered: false },
    );
  }
  result.detail = `${result.devicesNotified} of ${result.devicesAttempted} devices${reasons.length > 0 ? `: ${reasons.join(', ')}` : ''}`;
  return result;
}
