// Apple may drop a push. A registered phone that has not fetched the newest version 1 minute, 15 minutes and 6 hours
// after a push is pushed again each time. After that it counts as stale, which the pass doctor and the metrics show.
// Phones that could not be told of a change at all, as in stub mode, are pushed here too.
import type { Document } from 'mongodb';
import { insertMissing } from '../../../platform/mongodb/insertMissing.js';
import { update } from '../../../platform/mongodb/statements.js';
import { writeBulk } from '../../../platform/mongodb/transact.js';
import { updateByIds } from '../../../platform/mongodb/updateMany.js';
import type { MemberRow, TimelineRow } from '../../../schemas/members/members.rows.js';
import { derivedId } from '../../../schemas/shared/ids.js';
import { modesOf } from '../../../schemas/wallets/walletModes.rules.js';
import type { DeviceRow } from '../../../schemas/wallets/wallets.rows.js';
import { cachedProgram } from '../../programs/program.reads.js';
import type { WorkerDeps } from '../../workerDeps.js';
import type { AppleWallet } from '../wallets.client.js';
import { type Answered, type Phone, pushPhones } from './pushPhones.effect.js';
import { mayBeNewer } from './recheckTimes.rules.js';
import { updateDevices } from './updateDevices.writes.js';

const minute = 60_000;
/**
 * The times between checks: checks follow 15 min and 6 h after the push, and a last one 1 min later, which checks
 * whether the third repeated push helped.
 */
const recheckDelaysMs = [14 * minute, 345 * minute, minute];
const recheckNames = ['1 min', '15 min', '6 h'];
const retryMs = minute;
const refusedMs = 5 * minute;

const batchSize = 500;
/** The activity stops well before its timeout; the next run finds the remaining devices. */
const workMs = 15_000;
const withinMs = 5_000;

export async function repushStale(deps: WorkerDeps): Promise<{ pushed: number; stale: number }> {
  const { apple } = deps.wallets;
  const total = { pushed: 0, stale: 0 };
  if (!apple || deps.walletModes.apple === 'stub') return total;
  const until = performance.now() + workMs;
  await takeOwed(deps, until);
  for (let looked = batchSize; looked === batchSize && performance.now() < until; ) {
    const deadline = Date.now() + withinMs;
    const due = await deps.collections.devices
      .find({ recheckAt: { $lte: deps.now() } })
      .sort({ recheckAt: 1 })
      .limit(batchSize)
      .toArray();
    const { pushed, stale } = await recheck(deps, { apple, due, deadline });
    total.pushed += pushed;
    total.stale += stale;
    looked = due.length;
  }
  return total;
}

/** Makes the phones of passes due that were not told of a change. */
async function takeOwed(deps: WorkerDeps, until: number): Promise<void> {
  const { members, devices } = deps.collections;
  for (let looked = batchSize; looked === batchSize && performance.now() < until; ) {
    const now = deps.now();
    const owed = await members
      .find({ 'pass.appleDueAt': { $lte: now } }, { projection: { 'pass.appleDueAt': 1 } })
      .sort({ 'pass.appleDueAt': 1 })
      .limit(batchSize)
      .toArray();
    const memberId = { $in: owed.map(({ _id }) => _id) };
    const phones = owed.length > 0 ? await devices.find({ memberId }, { projection: { _id: 1 } }).toArray() : [];
    await updateByIds(deps, 'devices', {
      ids: phones.map(({ _id }) => _id),
      change: { $set: { recheckAt: now, recheckRound: 0 }, $unset: { stale: '' } },
    });
    await writeBulk(
      deps,
      owed.map(({ _id, pass: { appleDueAt } }) =>
        update(deps, 'members', { _id, 'pass.appleDueAt': appleDueAt }, { $unset: { 'pass.appleDueAt': '' } }),
      ),
    );
    looked = owed.length;
  }
}

interface Behind extends Phone {
  round: number;
}

async function recheck(
  deps: WorkerDeps,
  { apple, due, deadline }: { apple: AppleWallet; due: DeviceRow[]; deadline: number },
): Promise<{ pushed: number; stale: number }> {
  const { behind, unknown } = await findBehind(deps, due);
  const late = behind.filter(({ round }) => round < recheckDelaysMs.length);
  const stale = behind.filter(({ round }) => round >= recheckDelaysMs.length);
  // No caller waits for the events of phones that are gone, so the relay publishes them.
  const { pushed } = await pushPhones(deps, { apple, phones: late, leaseOwner: null, deadline });

  const lookedAgain = new Set([...behind.map(({ device }) => device._id), ...unknown.map(({ _id }) => _id)]);
  const current = due.filter((device) => !lookedAgain.has(device._id));
  const later = { $set: { recheckAt: new Date(deps.now().getTime() + retryMs) } };
  const changes: { device: DeviceRow; change: Document }[] = [
    ...unknown.map((device) => ({ device, change: later })),
    ...current.map((device) => ({ device, change: { $unset: { recheckAt: '', recheckRound: '', stale: '' } } })),
    ...stale.map(({ device }) => ({ device, change: { $set: { stale: true }, $unset: { recheckAt: '' } } })),
    ...pushed.map((phone) => ({ device: phone.device, change: { $set: nextRecheck(deps.now(), phone) } })),
  ];
  await updateDevices(
    deps,
    changes.map(({ device: { _id, recheckAt }, change }) => ({
      // A newer push has set another `recheckAt`; then this update matches nothing.
      filter: { _id, ...(recheckAt && { recheckAt }) },
      change,
    })),
  );
  await insertMissing(deps.collections.timeline, [
    ...pushed.map((phone) => repushLine(deps, phone)),
    ...stale.map((phone) => staleLine(deps, phone)),
  ]);
  return { pushed: pushed.filter(({ answer }) => answer.outcome === 'sent').length, stale: stale.length };
}

/**
 * Returns the devices that have not fetched the newest version and whose program still pushes, and the devices whose
 * check failed.
 */
async function findBehind(deps: WorkerDeps, due: DeviceRow[]): Promise<{ behind: Behind[]; unknown: DeviceRow[] }> {
  const memberIds = [...new Set(due.map((device) => device.memberId))];
  const members =
    memberIds.length > 0 ? await deps.collections.members.find({ _id: { $in: memberIds } }).toArray() : [];
  const byId = new Map(members.map((member) => [member._id, member]));
  const behind: Behind[] = [];
  const unknown: DeviceRow[] = [];
  for (const device of due) {
    const member = byId.get(device.memberId);
    if (!member || hasNewest(device, member)) continue;
    try {
      const program = await cachedProgram(deps, member);
      if (modesOf(deps.walletModes, program).apple === 'real')
        behind.push({ device, member, round: device.recheckRound ?? 0 });
    } catch (error) {
      deps.log.warn({ err: error, memberId: member._id }, 'a phone could not be checked; trying again later');
      unknown.push(device);
    }
  }
  return { behind, unknown };
}

/** The version of a phone is the one that it fetched last, or the one with which it registered. */
const hasNewest = ({ fetchedTag, registeredAt }: DeviceRow, member: MemberRow): boolean =>
  (fetchedTag !== undefined && fetchedTag >= member.pass.tag) || !mayBeNewer(member, registeredAt);

type Repushed = Behind & Answered;

function nextRecheck(now: Date, { round, answer, lastPush }: Repushed) {
  const at = (ms: number) => new Date(now.getTime() + ms);
  if (answer.outcome === 'retry') return { recheckAt: at(retryMs), recheckRound: round };
  // A wrong certificate or key is our fault; the phone stays owed its push until it is mended.
  if (answer.status === 403) return { recheckAt: at(refusedMs), recheckRound: round, lastPush };
  return { recheckAt: at(recheckDelaysMs[round] ?? minute), recheckRound: round + 1, lastPush };
}

function repushLine(deps: WorkerDeps, { device, member, round, answer }: Repushed): TimelineRow {
  const trouble = answer.outcome === 'sent' ? '' : `: ${answer.reason ?? answer.status}`;
  const isFirst = !device.lastPush || device.lastPush.tag < member.pass.tag;
  const why = isFirst ? 'late, not pushed before' : `again, not fetched after ${recheckNames[round] ?? 'long'}`;
  return {
    ...lineOf(deps, { device, member, round }),
    type: 'push_sent',
    outcome: answer.outcome === 'sent' ? 'success' : 'failure',
    detail: `${why}${trouble}`,
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
