// Pushes to phones through APNs. A phone that is gone ends its registration. The caller writes the answers to the
// database.
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import type { DeviceRow } from '../../../schemas/wallets/wallets.rows.js';
import type { WorkerDeps } from '../../workerDeps.js';
import type { AppleWallet } from '../wallets.client.js';
import type { PushAnswer } from './apns.client.js';
import { endRegistration } from './endRegistration.writes.js';
import { firstRecheckMs } from './recheckTimes.rules.js';

export interface Phone {
  device: DeviceRow;
  member: MemberRow;
}

export interface Answered {
  answer: PushAnswer;
  /** What the row of the device stores about the answer. */
  lastPush: NonNullable<DeviceRow['lastPush']>;
}

export interface PushPhones<P extends Phone> {
  apple: AppleWallet;
  phones: readonly P[];
  /** The lease owner of the events of registrations that end; null leaves these events to the relay. */
  leaseOwner: string | null;
  /** When APNs must have answered, in milliseconds since the epoch. Nothing is sent afterwards. */
  deadline: number;
}

/** Returns the answers in the order of the phones, and the events of registrations that ended. */
export async function pushPhones<P extends Phone>(
  deps: WorkerDeps,
  { apple, phones, leaseOwner, deadline }: PushPhones<P>,
): Promise<{ pushed: (P & Answered)[]; newEventIds: string[] }> {
  const tokens = phones.map(({ device }) => device.pushToken);
  const answers = tokens.length > 0 ? await apple.apns.push(tokens, deadline) : [];
  deps.crashPoint('after-push-before-record');
  const pushed: (P & Answered)[] = [];
  const newEventIds: string[] = [];
  for (const [index, phone] of phones.entries()) {
    const answer = answers[index];
    if (!answer) continue;
    deps.metrics.pass('apple', answer.outcome);
    const now = deps.now();
    const answered = { ...phone, answer, lastPush: lastPushOf(phone, answer, now) };
    pushed.push(answered);
    if (!isGone(apple, answered, now)) continue;
    try {
      const end = await endRegistration(deps, { device: phone.device, chooseLeaseOwner: () => leaseOwner });
      if (end) newEventIds.push(end.eventId);
    } catch (error) {
      deps.log.warn({ err: error }, 'a registration could not be ended; its phone is pushed again');
      answered.answer = { ...answer, outcome: 'retry' };
    }
  }
  return { pushed, newEventIds };
}

const badTokens: ReadonlySet<string | undefined> = new Set(['BadDeviceToken', 'DeviceTokenNotForTopic']);

const isBadToken = ({ status, reason }: PushAnswer): boolean => status === 400 && badTokens.has(reason);

/**
 * True after a 410, and after APNs refused a token as bad for at least a minute, without accepting it, and accepted a
 * push to another token in between. Without that accepted push, the refusals may come from a wrong configuration, which
 * affects all devices.
 */
function isGone({ apns }: AppleWallet, { device, answer }: Phone & Answered, now: Date): boolean {
  if (answer.outcome === 'gone') return true;
  const since = device.lastPush?.refusedSince?.getTime();
  if (since === undefined || !isBadToken(answer)) return false;
  return now.getTime() - since >= firstRecheckMs && apns.lastAcceptedAt() > since;
}

function lastPushOf({ device, member }: Phone, answer: PushAnswer, now: Date): Answered['lastPush'] {
  const { status, reason } = answer;
  return {
    at: now,
    status: status ?? 0,
    tag: member.pass.tag,
    ...(reason !== undefined && { reason }),
    ...(isBadToken(answer) && { refusedSince: device.lastPush?.refusedSince ?? now }),
  };
}
