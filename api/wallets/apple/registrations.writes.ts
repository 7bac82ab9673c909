// Registrations of passes on devices, for Apple's web service. For each pair of device and pass the service stores
// which version it last reported, and in which answer. A phone therefore misses no version, even when two changes fall
// into one moment or a transaction commits late (docs/protocols/apple-wallet.md#2-versions-and-tags).
import { timingSafeEqual } from 'node:crypto';
import type { Done } from '../../../activities/members/change.schema.js';
import { endRegistration, setDeviceCount } from '../../../activities/wallets/apple/endRegistration.writes.js';
import { installMs, mayBeNewer } from '../../../activities/wallets/apple/recheckTimes.rules.js';
import { updateDevices } from '../../../activities/wallets/apple/updateDevices.writes.js';
import { type ChangePass, changePass } from '../../../activities/wallets/changePass.writes.js';
import type { Deps } from '../../../platform/deps.js';
import { VersionConflict } from '../../../platform/mongodb/conflicts.js';
import { insert, remove } from '../../../platform/mongodb/statements.js';
import { updateAll } from '../../../platform/mongodb/updateMany.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { derivedId, isUuid } from '../../../schemas/shared/ids.js';
import type { DeviceRow } from '../../../schemas/wallets/wallets.rows.js';

export interface PassOnDevice {
  deviceLibraryIdentifier: string;
  passTypeIdentifier: string;
  serialNumber: string;
}

export const registrationId = ({ deviceLibraryIdentifier, passTypeIdentifier, serialNumber }: PassOnDevice): string =>
  derivedId('device', deviceLibraryIdentifier, passTypeIdentifier, serialNumber);

export async function memberBySerial(deps: Deps, serialNumber: string): Promise<MemberRow | null> {
  return isUuid(serialNumber) ? deps.collections.members.findOne({ serialNumber }) : null;
}

/** Compares the token that the phone sent with the token of its pass, in constant time. */
export function holdsToken(member: MemberRow, authorization: string): boolean {
  const given = Buffer.from(/^ApplePass (\S+)$/i.exec(authorization)?.[1] ?? '');
  const expected = Buffer.from(member.pass.authenticationToken);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export interface Registered {
  /** `full`: the device has as many passes as it may have. */
  kind: 'created' | 'known' | 'full';
  /** Null when there is no event. */
  done: Done | null;
}

/**
 * Registers a pass on a device. Every call stores the push token for all passes of the device, because phones change it
 * and say so for one pass at a time. No event is written for a pass that is added again before its removal was reported
 * (endRegistration.writes.ts). On a pass with as many devices as it may have, the new device replaces the stalest.
 */
export async function register(deps: Deps, given: Register): Promise<Registered> {
  let registered = await tryToRegister(deps, given);
  while (registered.kind === 'crowded' && (await endStalest(deps, given.member)))
    registered = await tryToRegister(deps, given);
  const { kind, done } = registered;
  if (kind === 'full' || kind === 'crowded') return { kind: 'full', done };
  await updateDevicePushToken(deps, given.pass, given.pushToken);
  return { kind, done };
}

type Register = Pick<ChangePass, 'member' | 'chooseLeaseOwner'> & { pass: PassOnDevice; pushToken: string };

interface Tried extends Pick<Registered, 'done'> {
  /** `crowded`: the pass is on as many devices as it may be. */
  kind: Registered['kind'] | 'crowded';
}

async function tryToRegister(deps: Deps, { pass, pushToken, ...given }: Register): Promise<Tried> {
  const { _id: memberId, merchantId } = given.member;
  const _id = registrationId(pass);
  let kind = 'known' as Tried['kind'];
  const done = await changePass(deps, {
    ...given,
    platform: 'apple',
    decide: async (member) => {
      const known = await deps.collections.devices.findOne({ _id }, { projection: { pushToken: 1 } });
      if (known) {
        kind = 'known';
        await updateKnownPushToken(deps, { _id, known: known.pushToken, pushToken });
        return null;
      }
      const { WALLET_DEVICES_PER_PASS, WALLET_PASSES_PER_DEVICE: most } = deps.config;
      const { deviceLibraryIdentifier, passTypeIdentifier } = pass;
      const onDevice = { deviceLibraryIdentifier, passTypeIdentifier };
      if ((await deps.collections.devices.countDocuments(onDevice, { limit: most })) >= most) kind = 'full';
      else kind = member.deviceCount >= WALLET_DEVICES_PER_PASS ? 'crowded' : 'created';
      if (kind !== 'created') return null;
      const now = deps.now();
      const row: DeviceRow = {
        ...{ _id, merchantId, memberId, ...pass, pushToken, registeredAt: now },
        ...(mayBeNewer(member, now) && { recheckAt: now, recheckRound: 0 }),
      };
      const deviceCount = member.deviceCount + 1;
      const unreported = await deps.collections.removals.findOne({ memberId, reportAt: { $exists: true } });
      if (unreported) {
        const statements = [insert(deps, 'devices', row), remove(deps, 'removals', { _id: unreported._id })];
        await setDeviceCount(deps, member, deviceCount, statements);
        return null;
      }
      return {
        type: 'pass.installed',
        set: { deviceCount },
        timeline: 'device_registered',
        statements: [insert(deps, 'devices', row)],
      };
    },
  });
  return { kind, done };
}

/** Ends the registration that was heard from least recently. Returns false when the pass has none. */
async function endStalest(deps: Deps, { _id: memberId, merchantId }: ChangePass['member']): Promise<boolean> {
  const devices = await deps.collections.devices.find({ memberId, merchantId }).toArray();
  const [device] = devices.sort((a, b) => lastHeardFrom(a) - lastHeardFrom(b));
  if (!device) return false;
  const { _id, pushToken } = device;
  await endRegistration(deps, { device: { _id, merchantId, memberId, pushToken }, chooseLeaseOwner: () => null });
  return true;
}

const lastHeardFrom = ({ registeredAt, lastListedAt, lastFetchedAt }: DeviceRow): number =>
  Math.max(...[registeredAt, lastListedAt, lastFetchedAt].map((at) => at?.getTime() ?? 0));

/** A push to the old token may have been lost, so the phone is pushed again soon. */
const pushTokenChange = (deps: Deps, pushToken: string) => ({
  $set: { pushToken, recheckAt: deps.now(), recheckRound: 0 },
  $unset: { lastPush: '' as const, stale: '' as const },
});

/** Stores the push token for the other passes of the device. */
async function updateDevicePushToken(deps: Deps, pass: PassOnDevice, pushToken: string): Promise<void> {
  const { deviceLibraryIdentifier, passTypeIdentifier } = pass;
  const where = { deviceLibraryIdentifier, passTypeIdentifier, pushToken: { $ne: pushToken } };
  await updateAll(deps, 'devices', { where, change: pushTokenChange(deps, pushToken) });
}

/** Stores a changed push token. Throws VersionConflict when the device has unregistered. */
async function updateKnownPushToken(deps: Deps, at: { _id: string; known: string; pushToken: string }): Promise<void> {
  const { _id, known, pushToken } = at;
  if (known === pushToken) return;
  const kept = await deps.collections.devices.updateOne({ _id }, pushTokenChange(deps, pushToken));
  if (kept.matchedCount === 0) throw new VersionConflict('The device has unregistered since.');
}

/** The service creates no tag that is this far ahead of the clock. */
const aheadMs = 3_600_000;

/** The tag that a phone sent back; null without a tag, or for one that this service cannot have created. */
function readTag(deps: Deps, tag: string | undefined): Date | null {
  const given = new Date(tag ?? Number.NaN);
  const isOurs = !Number.isNaN(given.getTime()) && given.toISOString() === tag;
  return isOurs && given.getTime() < deps.now().getTime() + aheadMs ? given : null;
}

export interface Updates {
  serialNumbers: string[];
  lastUpdated: string;
}

/** Nobody but the phone can know the identifier of a device that has passes. */
export async function isKnownDevice(deps: Deps, device: Omit<PassOnDevice, 'serialNumber'>): Promise<boolean> {
  const { deviceLibraryIdentifier, passTypeIdentifier } = device;
  const where = { deviceLibraryIdentifier, passTypeIdentifier };
  return (await deps.collections.devices.findOne(where, { projection: { _id: 1 } })) !== null;
}

/** The passes of the device that changed since the tag, or all of them without a tag. Null when there is none. */
export async function listUpdates(
  deps: Deps,
  at: Omit<PassOnDevice, 'serialNumber'> & { since: string | undefined },
): Promise<Updates | null> {
  const { deviceLibraryIdentifier, passTypeIdentifier } = at;
  const since = readTag(deps, at.since);
  const devices = await deps.collections.devices.find({ deviceLibraryIdentifier, passTypeIdentifier }).toArray();
  if (devices.length === 0) return null;
  const memberIds = devices.map((device) => device.memberId);
  const members = await deps.collections.members
    .find({ _id: { $in: memberIds } }, { projection: { 'pass.tag': 1 } })
    .toArray();
  const tags = new Map(members.map((member) => [member._id, member.pass.tag]));
  const changed = devices.flatMap((device) => {
    const tag = tags.get(device.memberId);
    return tag && isUnseen(device, tag, since) ? [{ device, tag }] : [];
  });
  if (changed.length === 0) return null;

  const newest = Math.max(...changed.map(({ tag }) => tag.getTime()));
  const lastUpdated = new Date(since ? Math.max(newest, since.getTime() + 1) : newest);
  const now = deps.now();
  await updateDevices(
    deps,
    changed.map(({ device, tag }) => ({
      filter: { _id: device._id },
      change: { $set: { listedTag: tag, listedIn: lastUpdated, lastListedAt: now } },
    })),
  );
  return { serialNumbers: changed.map(({ device }) => device.serialNumber), lastUpdated: lastUpdated.toISOString() };
}

/**
 * Whether the phone may have missed this version. A version whose tag is above the phone's tag is new. A version below
 * the phone's tag may be new too, because its transaction may have committed after the answer that gave the phone its
 * tag. The phone has not missed it if it was reported in an answer that the phone received, as the phone's tag shows,
 * or if the phone registered more than `installMs` after it.
 */
function isUnseen(device: DeviceRow, tag: Date, since: Date | null): boolean {
  if (!since || tag > since) return true;
  if (tag.getTime() === since.getTime()) return false;
  const listed =
    device.listedTag?.getTime() === tag.getTime() && device.listedIn !== undefined && device.listedIn <= since;
  const installed = device.registeredAt.getTime() - tag.getTime() > installMs;
  return !listed && !installed;
}

/**
 * Stores which version a phone fetched, once for each version, so that fetches without a new version write nothing. A
 * phone does not identify itself when it fetches. The fetch is attributed to the phone that this version was last
 * reported to and that has not fetched it, or to the only phone. Returns whether a phone has now fetched a version that
 * is newer than its registration.
 */
export async function recordFetch(deps: Deps, member: MemberRow): Promise<boolean> {
  const { tag } = member.pass;
  const devices = await deps.collections.devices.find({ memberId: member._id }).toArray();
  const behind = devices.filter((device) => !device.fetchedTag || device.fetchedTag < tag);
  const [listed] = behind
    .filter((device) => device.listedTag?.getTime() === tag.getTime())
    .sort((a, b) => Number(b.lastListedAt) - Number(a.lastListedAt));
  const [only] = devices.length === 1 ? behind : [];
  const fetcher = listed ?? only;
  if (!fetcher) return false;
  const { matchedCount } = await deps.collections.devices.updateOne(
    { _id: fetcher._id, fetchedTag: { $ne: tag } },
    { $set: { fetchedTag: tag, lastFetchedAt: deps.now() }, $unset: { recheckAt: '', recheckRound: '', stale: '' } },
  );
  return matchedCount === 1 && tag > fetcher.registeredAt;
}
