// Writes updates of devices, many in one commit, because each commit waits for the disk.
import type { Document } from 'mongodb';
import type { Deps } from '../../../platform/deps.js';
import { update } from '../../../platform/mongodb/statements.js';
import { writeBulk } from '../../../platform/mongodb/transact.js';
import type { Statement } from '../../../platform/mongodb/transaction.js';

/**
 * `change` must be correct after any other change of the device in the meantime, or `filter` must exclude the changes
 * after which it is not.
 */
export interface DeviceUpdate {
  filter: Document & { _id: string };
  change: Document;
}

export async function updateDevices(deps: Deps, notes: readonly DeviceUpdate[]): Promise<void> {
  await writeBulk(deps, deviceStatements(deps, notes));
}

export const deviceStatements = (deps: Deps, notes: readonly DeviceUpdate[]): Statement[] =>
  notes.map(({ filter, change }) => update(deps, 'devices', filter, change));
