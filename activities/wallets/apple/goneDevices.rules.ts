// Decides from an answer of APNs whether a device is gone, so that its registration ends.
import type { DeviceRow } from '../../../schemas/wallets/wallets.rows.js';
import type { AppleWallet } from '../wallets.client.js';
import type { PushAnswer } from './apns.client.js';
import { firstRecheckMs } from './recheckTimes.rules.js';

const badTokens: ReadonlySet<string | undefined> = new Set(['BadDeviceToken', 'DeviceTokenNotForTopic']);

const isBadToken = ({ status, reason }: Pick<PushAnswer, 'status' | 'reason'>): boolean =>
  status === 400 && badTokens.has(reason);

interface Answered {
  device: DeviceRow;
  answer: PushAnswer;
  now: Date;
}

/**
 * True after a 410, and after APNs refused a token as bad for at least a minute, without accepting it, and accepted a
 * push to another token in between. Without that accepted push, the refusals may come from a wrong configuration, which
 * affects all devices.
 */
export function isGone({ apns }: Pick<AppleWallet, 'apns'>, { device, answer, now }: Answered): boolean {
  if (answer.outcome === 'gone') return true;
  const since = device.lastPush?.refusedSince?.getTime();
  if (since === undefined || !isBadToken(answer)) return false;
  return now.getTime() - since >= firstRecheckMs && apns.lastAcceptedAt() > since;
}

/** What the row of a device stores about the answer to a push of this version. */
export function lastPushOf({ device, answer, now }: Answered, tag: Date): NonNullable<DeviceRow['lastPush']> {
  const { status, reason } = answer;
  return {
    at: now,
    status: status ?? 0,
    tag,
    ...(reason !== undefined && { reason }),
    ...(isBadToken(answer) && { refusedSince: device.lastPush?.refusedSince ?? now }),
  };
}
