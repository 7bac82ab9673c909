// The rows of phones and of updates at Google, and their indexes.
import { days, type IndexesOf } from '../shared/indexes.js';

/** One registration of one pass on one device. */
export interface DeviceRow {
  _id: string;
  merchantId: string;
  memberId: string;
  deviceLibraryIdentifier: string;
  passTypeIdentifier: string;
  serialNumber: string;
  pushToken: string;
  registeredAt: Date;
  /** The version that a list answer last reported, and the `lastUpdated` of that answer. */
  listedTag?: Date;
  listedIn?: Date;
  lastListedAt?: Date;
  lastFetchedAt?: Date;
  fetchedTag?: Date;
  /** `refusedSince`: the first of the last pushes, all refused because of the token. */
  lastPush?: { at: Date; status: number; tag: Date; reason?: string; refusedSince?: Date };
  /**
   * When to check whether the phone fetched the pushed version, and how often it was pushed again
   * (activities/wallets/apple/repush.activity.ts).
   */
  recheckAt?: Date;
  recheckRound?: number;
  stale?: boolean;
}

/** A registration of a pass that ended recently (activities/wallets/apple/endRegistration.writes.ts). */
export interface RemovalRow {
  _id: string;
  merchantId: string;
  memberId: string;
  /** A removal that was reported as `pass.removed`; such a row is deleted by a TTL index. */
  reportedAt?: Date;
  /** When the removal is reported, unless the pass is added again before. */
  reportAt?: Date;
}

export interface DeviceLogRow {
  _id: string;
  message: string;
  serialNumber?: string;
  receivedAt: Date;
}

/** A program whose class has to be updated at Google; the id is that of the program. */
export interface ClassUpdateRow {
  _id: string;
  merchantId: string;
  /** Changes with each change of the program. */
  revision: string;
}

/** An object at Google that is to be cleared; the id is that of its erased member. */
export interface GoogleClearRow {
  _id: string;
  dueAt: Date;
}

export interface WalletCollections {
  devices: DeviceRow;
  removals: RemovalRow;
  deviceLogs: DeviceLogRow;
  classUpdates: ClassUpdateRow;
  googleClears: GoogleClearRow;
}

export const walletIndexes: IndexesOf<WalletCollections> = {
  devices: [
    {
      key: { deviceLibraryIdentifier: 1, passTypeIdentifier: 1, serialNumber: 1 },
      unique: true,
      reason: 'one registration for each device and pass; the list of a device',
    },
    { key: { memberId: 1 }, reason: 'whom to push to' },
    { key: { recheckAt: 1 }, reason: 'phones that should have fetched by now' },
    { key: { stale: 1 }, sparse: true, reason: 'phones that never fetched, counted for the metrics' },
  ],
  removals: [
    { key: { memberId: 1 }, reason: 'recent removals of a pass' },
    { key: { reportAt: 1 }, sparse: true, reason: 'removals that are still to be reported' },
    { key: { reportedAt: 1 }, expireAfterSeconds: 3_600, reason: 'longer than a reported removal counts' },
  ],
  deviceLogs: [
    { key: { receivedAt: 1 }, expireAfterSeconds: days(7), reason: 'device logs are kept 7 days' },
    { key: { serialNumber: 1, receivedAt: -1 }, reason: 'the last lines about a pass' },
  ],
  classUpdates: [],
  googleClears: [{ key: { dueAt: 1 }, reason: 'objects at Google that are to be cleared, longest due first' }],
};
