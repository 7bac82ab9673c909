// Writes updates of devices, many in one commit, because each commit waits for a disk write.
import type { Document } from 'mongodb';
import type { Deps } from '../../../platform/deps.js';
import { update } from '../../../platform/mongodb/statements.js';
import { writeBulk } from '../../../platform/mongodb/transact.js';
import type { Statement } from '../../../platform/mongodb/transaction.js';

/** `change` must stay correct after concurrent changes of the device, or `filter` must exclude those changes. */
export interface DeviceUpdate {
  filter: Document & { _id: string };
  change: Document;
}

export async function updateDevices(deps: Deps, notes: readonly DeviceUpdate[]): Promise<void> {
  await writeBulk(deps, deviceStatements(deps, notes));
}

export const deviceStatements = (deps: Deps, notes: readonly DeviceUpdate[]): Statement[] =>
  notes.map(({ filter, change }) => update(deps, 'devices', filter, change));
