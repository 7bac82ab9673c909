// Registrations of passes on devices, as Apple's web service asks for them. Answers go by (device, pass) pairs: what a device
// was told of each pass, and in which answer, so that two changes in one moment, or a transaction that commits late,
// can never be lost to it (facts-wallets 4.6).
import { timingSafeEqual } from 'node:crypto';
import type { DeviceRow, MemberRow } from '../../schemas/collections.js';
import { derivedId, isUuid } from '../../schemas/ids.js';
import { changeMember } from '../changeMember.js';
import type { Store } from '../deps.js';
import { insert, StaleRead } from '../transact.js';
import { noteDevices } from './noteDevices.js';

export interface PassOnDevice {
  deviceLibraryIdentifier: string;
  passTypeIdentifier: string;
  serialNumber: string;
}

export const registrationId = ({ deviceLibraryIdentifier, passTypeIdentifier, serialNumber }: PassOnDevice): string =>
  derivedId('device', deviceLibraryIdentifier, passTypeIdentifier, serialNumber);

export async function memberBySerial(store: Store, serialNumber: string): Promise<MemberRow | null> {
  return isUuid(serialNumber) ? store.rows.members.findOne({ serialNumber }) : null;
}

/** Compares in constant time what the phone sent with what its pass says. */
export function holdsToken(member: MemberRow, authorization: string): boolean {
  const given = Buffer.from(/^ApplePass (\S+)$/i.exec(authorization)?.[1] ?? '');
  const expected = Buffer.from(member.pass.authenticationToken);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export interface Registered {
  created: boolean;
  eventId: string | null;
}

/** A pass may have changed between its download and its registration, which are this close together. */
const installMs = 10 * 60_000;

/** The push token is kept at every call, known registration or not: phones change it. */
export async function register(
  store: Store,
  input: { member: MemberRow; pass: PassOnDevice; pushToken: string; holderOf: (eventId: string) => string | null },
): Promise<Registered> {
  const { pass, pushToken, holderOf } = input;
  const { _id: memberId, merchantId } = input.member;
  const _id = registrationId(pass);
  const changed = await changeMember(store, {
    merchantId,
    memberId,
    holderOf,
    confirmable: true,
    decide: async (member) => {
      const known = await store.rows.devices.findOne({ _id }, { projection: { pushToken: 1 } });
      if (known) {
        await keepToken(store, { _id, known: known.pushToken, pushToken });
        return null;
      }
      const now = store.now();
      const { tag } = member.pass;
      const isYoung = tag > member.createdAt && now.getTime() - tag.getTime() < installMs;
      const row: DeviceRow = {
        ...{ _id, merchantId, memberId, ...pass, pushToken, registeredAt: now },
        ...(isYoung && { recheckAt: now, recheckRound: 0 }),
      };
      return {
        set: { deviceCount: member.deviceCount + 1 },
        wallet: false,
        event: { type: 'pass.installed', data: { serialNumber: member.serialNumber, platform: 'apple' } },
        timeline: { type: 'device_registered', platform: 'apple' },
        statements: [insert(store, 'devices', row)],
      };
    },
  });
  return changed.kind === 'done' ? { created: true, eventId: changed.eventId } : { created: false, eventId: null };
}

/** What the old token was told may never have arrived: the new one is pushed soon. Throws StaleRead when the device left. */
async function keepToken(store: Store, at: { _id: string; known: string; pushToken: string }): Promise<void> {
  const { _id, known, pushToken } = at;
  if (known === pushToken) return;
  const kept = await store.rows.devices.updateOne(
    { _id },
    { $set: { pushToken, recheckAt: store.now(), recheckRound: 0 }, $unset: { lastPush: '', stale: '' } },
  );
  if (kept.matchedCount === 0) throw new StaleRead('The device unregistered meanwhile.');
}

/** No tag is ever this far ahead. */
const aheadMs = 3_600_000;

/** The tag that a phone gave back, or null for none and for one that this service never made. */
function readTag(store: Store, tag: string | undefined): Date | null {
  const given = new Date(tag ?? Number.NaN);
  const isOurs = !Number.isNaN(given.getTime()) && given.toISOString() === tag;
  return isOurs && given.getTime() < store.now().getTime() + aheadMs ? given : null;
}

export interface Updates {
  serialNumbers: string[];
  lastUpdated: string;
}

/** Passes of the device that changed since the tag; all of them without one. Null when there is nothing to tell. */
export async function listUpdates(
  store: Store,
  at: Omit<PassOnDevice, 'serialNumber'> & { since: string | undefined },
): Promise<Updates | null> {
  const { deviceLibraryIdentifier, passTypeIdentifier } = at;
  const since = readTag(store, at.since);
  const devices = await store.rows.devices.find({ deviceLibraryIdentifier, passTypeIdentifier }).toArray();
  if (devices.length === 0) return null;
  const memberIds = devices.map((device) => device.memberId);
  const members = await store.rows.members
    .find({ _id: { $in: memberIds } }, { projection: { 'pass.tag': 1 } })
    .toArray();
  const tags = new Map(members.map((member) => [member._id, member.pass.tag]));
  const changed = devices.flatMap((device) => {
    const tag = tags.get(device.memberId);
    return tag && isNews(device, tag, since) ? [{ device, tag }] : [];
  });
  if (changed.length === 0) return null;

  const newest = Math.max(...changed.map(({ tag }) => tag.getTime()));
  const lastUpdated = new Date(since ? Math.max(newest, since.getTime() + 1) : newest);
  const now = store.now();
  await noteDevices(
    store,
    changed.map(({ device, tag }) => ({
      filter: { _id: device._id },
      change: { $set: { toldTag: tag, toldIn: lastUpdated, lastListedAt: now } },
    })),
  );
  return { serialNumbers: changed.map(({ device }) => device.serialNumber), lastUpdated: lastUpdated.toISOString() };
}

/**
 * By the tags alone a version is news when its tag is above the phone's. One below may be news too: its transaction may have
 * committed after the answer that gave the phone its tag. It is old news once it was told in an answer that the phone
 * has shown, by its tag, to have received, or when the phone came by after it.
 */
function isNews(device: DeviceRow, tag: Date, since: Date | null): boolean {
  if (!since || tag > since) return true;
  if (tag.getTime() === since.getTime()) return false;
  const told = device.toldTag?.getTime() === tag.getTime() && device.toldIn !== undefined && device.toldIn <= since;
  const installed = device.registeredAt.getTime() - tag.getTime() > installMs;
  return !told && !installed;
}

/**
 * Notes which version went out, once a version: fetches without news write nothing. A phone does not say who it is when it
 * fetches, so the fetch counts for the one that was told of this version last and has not fetched it yet, or for the
 * only one there is.
 */
export async function noteFetch(store: Store, member: MemberRow): Promise<void> {
  const { tag } = member.pass;
  const devices = await store.rows.devices.find({ memberId: member._id }).toArray();
  const behind = devices.filter((device) => !device.fetchedTag || device.fetchedTag < tag);
  const [told] = behind
    .filter((device) => device.toldTag?.getTime() === tag.getTime())
    .sort((a, b) => Number(b.lastListedAt) - Number(a.lastListedAt));
  const [only] = devices.length === 1 ? behind : [];
  const fetcher = told ?? only;
  if (!fetcher) return;
  await store.rows.devices.updateOne(
    { _id: fetcher._id },
    { $set: { fetchedTag: tag, lastFetchedAt: store.now() }, $unset: { recheckAt: '', recheckRound: '', stale: '' } },
  );
}
