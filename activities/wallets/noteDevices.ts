// What is noted of devices: of many with one commit, since each of them alone would wait for the disk.
import type { Document } from 'mongodb';
import type { Store } from '../deps.js';
import { type Statement, update, writeTogether } from '../transact.js';

/** `change` is true whatever else happens to the device meanwhile, or `filter` says when it is not. */
export interface DeviceNote {
  filter: Document & { _id: string };
  change: Document;
}

export async function noteDevices(store: Store, notes: readonly DeviceNote[]): Promise<void> {
  await writeTogether(store, noteStatements(store, notes));
}

export const noteStatements = (store: Store, notes: readonly DeviceNote[]): Statement[] =>
  notes.map(({ filter, change }) => update(store, 'devices', filter, change));
