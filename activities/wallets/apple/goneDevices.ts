// Decides from an answer of APNs whether a device is gone, so that its registration ends.
import type { DeviceRow } from '../../../schemas/collections.js';
import type { AppleWallet } from '../wallets.js';
import type { PushAnswer } from './apns.js';
import { firstRecheckMs } from './recheckTimes.js';

const badTokens: ReadonlySet<string | undefined> = new Set(['BadDeviceToken', 'DeviceTokenNotForTopic']);

/**
 * True after a 410, and after APNs refused a token as bad twice, at least a minute apart, and accepted a push to
 * another token in between. Without that accepted push, the refusals may come from a wrong configuration, which affects
 * all devices.
 */
export function isGone(
  { apns }: Pick<AppleWallet, 'apns'>,
  { device: { lastPush }, answer, now }: { device: DeviceRow; answer: PushAnswer; now: Date },
): boolean {
  if (answer.outcome === 'gone') return true;
  if (answer.status !== 400 || !badTokens.has(answer.reason)) return false;
  if (lastPush?.status !== 400 || !badTokens.has(lastPush.reason)) return false;
  const refusedAt = lastPush.at.getTime();
  return now.getTime() - refusedAt >= firstRecheckMs && apns.lastAcceptedAt() > refusedAt;
}
