// Ends a registration, because the device removed the pass, or because APNs answered that the device is gone.
// Idempotent: a registration ends once. The events of a pass that is added and removed repeatedly are bounded: after
// three removals within ten minutes, a removal is reported ten minutes later, or not at all when the pass is added
// again before (docs/decisions/phones-are-limited-by-pass.md).

import type { Deps } from '../../../platform/deps.js';
import { insert, remove, update } from '../../../platform/mongodb/statements.js';
import { transact } from '../../../platform/mongodb/transact.js';
import type { Statement } from '../../../platform/mongodb/transaction.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { newId } from '../../../schemas/shared/ids.js';
import type { DeviceRow } from '../../../schemas/wallets/wallets.rows.js';
import type { Done } from '../../members/change.schema.js';
import { type ChangePass, changePass } from '../changePass.writes.js';

const quietMs = 10 * 60_000;
/** How many removals of one pass are reported at once within `quietMs`. */
const reportedAtOnce = 3;

export interface EndRegistration extends Pick<ChangePass, 'chooseLeaseOwner'> {
  /** With `pushToken`, the registration ends only if it still has this token. */
  device: Pick<DeviceRow, '_id' | 'merchantId' | 'memberId'> & { pushToken?: string };
}

/** Returns null when there was no such registration, or when its end is not reported now. */
export function endRegistration(deps: Deps, { device, chooseLeaseOwner }: EndRegistration): Promise<Done | null> {
  const { _id, merchantId, memberId, pushToken } = device;
  const isSame = { _id, ...(pushToken !== undefined && { pushToken }) };
  return changePass(deps, {
    member: { _id: memberId, merchantId },
    platform: 'apple',
    chooseLeaseOwner,
    decide: async (member) => {
      const registered = await deps.collections.devices.findOne(isSame, { projection: { _id: 1 } });
      if (!registered) return null;
      const deviceCount = Math.max(member.deviceCount - 1, 0);
      const row = { _id: newId(), merchantId, memberId };
      const now = deps.now();
      if ((await removalsSince(deps, memberId, now.getTime() - quietMs)) >= reportedAtOnce) {
        const reportAt = new Date(now.getTime() + quietMs);
        await setDeviceCount(deps, member, deviceCount, [
          remove(deps, 'devices', isSame),
          insert(deps, 'removals', { ...row, reportAt }),
        ]);
        return null;
      }
      return {
        type: 'pass.removed',
        set: { deviceCount },
        timeline: 'device_unregistered',
        statements: [remove(deps, 'devices', isSame), insert(deps, 'removals', { ...row, reportedAt: now })],
      };
    },
  });
}

async function removalsSince(deps: Deps, memberId: string, since: number): Promise<number> {
  const removals = await deps.collections.removals.find({ memberId }).limit(100).toArray();
  return removals.filter(({ reportedAt }) => reportedAt !== undefined && reportedAt.getTime() > since).length;
}

/**
 * A change of the registrations without an event. Throws VersionConflict when the member has changed since it was read.
 */
export function setDeviceCount(
  deps: Deps,
  { _id, merchantId, version }: MemberRow,
  deviceCount: number,
  statements: Statement[],
): Promise<void> {
  const change = { $set: { deviceCount, version: version + 1, updatedAt: deps.now() } };
  return transact(deps, [update(deps, 'members', { _id, merchantId, version }, change), ...statements], 1);
}
