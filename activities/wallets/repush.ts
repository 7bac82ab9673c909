// A push is a hint that Apple may drop. A registered phone that has not fetched the newest version after a minute, 15 minutes
// and 6 hours is pushed again; after that it counts as stale, which the pass doctor and the metrics show.
import type { Document } from 'mongodb';
import type { DeviceRow, MemberRow, TimelineRow } from '../../schemas/collections.js';
import { derivedId } from '../../schemas/ids.js';
import type { PushAnswer } from '../apple/apns.js';
import { insertNew } from '../insertNew.js';
import { recentProgram } from '../programs.js';
import { modesOf } from '../walletModes.js';
import type { WorkerDeps } from '../workerDeps.js';
import { endRegistration } from './endRegistration.js';
import { noteDevices } from './noteDevices.js';
import type { AppleWallet } from './wallets.js';

const minute = 60_000;
/** When a phone that was pushed is looked at, counted from the push. */
export const firstRecheckMs = minute;
/** From one look to the next: at 15 min, at 6 h, and a last one to see whether that helped. */
const nextLookMs = [14 * minute, 345 * minute, minute];
const lookNames = ['1 min', '15 min', '6 h'];
const retryMs = minute;

const batchSize = 500;
/** An activity's attempt ends well within its time; what is left is found by the next one. */
const workMs = 15_000;
const withinMs = 5_000;

export async function repushStale(deps: WorkerDeps): Promise<{ pushed: number; stale: number }> {
  const { apple } = deps.wallets;
  const total = { pushed: 0, stale: 0 };
  if (!apple || deps.walletModes.apple === 'stub') return total;
  const until = performance.now() + workMs;
  for (let looked = batchSize; looked === batchSize && performance.now() < until; ) {
    const due = await deps.rows.devices
      .find({ recheckAt: { $lte: deps.now() } })
      .sort({ recheckAt: 1 })
      .limit(batchSize)
      .toArray();
    const { pushed, stale } = await look(deps, apple, due);
    total.pushed += pushed;
    total.stale += stale;
    looked = due.length;
  }
  return total;
}

interface Behind {
  device: DeviceRow;
  member: MemberRow;
  round: number;
}

async function look(
  deps: WorkerDeps,
  apple: AppleWallet,
  due: DeviceRow[],
): Promise<{ pushed: number; stale: number }> {
  const behind = await findBehind(deps, due);
  const late = behind.filter(({ round }) => round < nextLookMs.length);
  const stale = behind.filter(({ round }) => round >= nextLookMs.length);
  const answers =
    late.length > 0
      ? await apple.apns.push(
          late.map(({ device }) => device.pushToken),
          withinMs,
        )
      : [];
  const pushed = late.flatMap((phone, index) => {
    const answer = answers[index];
    return answer ? [{ ...phone, answer }] : [];
  });
  for (const { answer } of pushed) deps.metrics.pass('apple', answer.outcome);
  const gone = pushed.filter(({ answer }) => answer.outcome === 'gone');
  // Nobody waits for the event of a phone that is gone: the relay publishes it.
  for (const { device } of gone) await endRegistration(deps, { device, holderOf: () => null });

  const behindIds = new Set(behind.map(({ device }) => device._id));
  const current = due.filter((device) => !behindIds.has(device._id));
  const changes: { device: DeviceRow; change: Document }[] = [
    ...current.map((device) => ({ device, change: { $unset: { recheckAt: '', recheckRound: '', stale: '' } } })),
    ...stale.map(({ device }) => ({ device, change: { $set: { stale: true }, $unset: { recheckAt: '' } } })),
    ...pushed.map((phone) => ({ device: phone.device, change: { $set: nextLook(deps.now(), phone) } })),
  ];
  await noteDevices(
    deps,
    changes.map(({ device: { _id, recheckAt }, change }) => ({
      // A newer push has set another time, and counts from its own.
      filter: { _id, ...(recheckAt && { recheckAt }) },
      change,
    })),
  );
  await insertNew(deps.rows.timeline, [
    ...pushed.map((phone) => againLine(deps, phone)),
    ...stale.map((phone) => staleLine(deps, phone)),
  ]);
  return { pushed: pushed.filter(({ answer }) => answer.outcome === 'sent').length, stale: stale.length };
}

/** Those whose newest version was not fetched, and whose program still pushes. */
async function findBehind(deps: WorkerDeps, due: DeviceRow[]): Promise<Behind[]> {
  const memberIds = [...new Set(due.map((device) => device.memberId))];
  const members = memberIds.length > 0 ? await deps.rows.members.find({ _id: { $in: memberIds } }).toArray() : [];
  const byId = new Map(members.map((member) => [member._id, member]));
  const behind: Behind[] = [];
  for (const device of due) {
    const member = byId.get(device.memberId);
    if (!member || (device.fetchedTag && device.fetchedTag >= member.pass.tag)) continue;
    const program = await recentProgram(deps, member);
    if (modesOf(deps.walletModes, program).apple === 'real')
      behind.push({ device, member, round: device.recheckRound ?? 0 });
  }
  return behind;
}

interface PushedAgain extends Behind {
  answer: PushAnswer;
}

function nextLook(now: Date, { member, round, answer }: PushedAgain) {
  const at = (ms: number) => new Date(now.getTime() + ms);
  if (answer.outcome === 'retry') return { recheckAt: at(retryMs), recheckRound: round };
  const { status, reason } = answer;
  const lastPush = { at: now, status: status ?? 0, tag: member.pass.tag, ...(reason !== undefined && { reason }) };
  return { recheckAt: at(nextLookMs[round] ?? minute), recheckRound: round + 1, lastPush };
}

function againLine(deps: WorkerDeps, { device, member, round, answer }: PushedAgain): TimelineRow {
  const trouble = answer.outcome === 'sent' ? '' : `: ${answer.reason ?? answer.status}`;
  return {
    ...lineOf(deps, { device, member, round }),
    type: 'push_sent',
    outcome: answer.outcome === 'sent' ? 'success' : 'failure',
    detail: `again, not fetched after ${lookNames[round] ?? 'long'}${trouble}`,
  };
}

function staleLine(deps: WorkerDeps, phone: Behind): TimelineRow {
  return { ...lineOf(deps, phone), type: 'device_stale', outcome: 'failure', detail: 'not fetched after 6 h' };
}

function lineOf(deps: WorkerDeps, { device, member, round }: Behind) {
  return {
    _id: derivedId('timeline', device._id, member.pass.tag.toISOString(), String(round)),
    merchantId: member.merchantId,
    memberId: member._id,
    platform: 'apple' as const,
    occurredAt: deps.now(),
  };
}
