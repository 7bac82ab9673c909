// Ends a registration, because the device removed the pass, or because APNs answered that the device is gone. A
// registration ends only once, however often this is called.
import type { Deps } from '../../../platform/deps.js';
import { remove } from '../../../platform/mongodb/statements.js';
import type { DeviceRow } from '../../../schemas/collections.js';
import type { Done } from '../../members/changeTypes.js';
import { type ChangePass, changePass } from '../changePass.js';

/** Returns null when there was no such registration. */
export function endRegistration(
  deps: Deps,
  {
    device: { _id, merchantId, memberId },
    leaseOwnerOf,
  }: Pick<ChangePass, 'leaseOwnerOf'> & { device: Pick<DeviceRow, '_id' | 'merchantId' | 'memberId'> },
): Promise<Done | null> {
  return changePass(deps, {
    member: { _id: memberId, merchantId },
    platform: 'apple',
    leaseOwnerOf,
    decide: async (member) => {
      const registered = await deps.collections.devices.findOne({ _id }, { projection: { _id: 1 } });
      if (!registered) return null;
      return {
        type: 'pass.removed',
        set: { deviceCount: Math.max(member.deviceCount - 1, 0) },
        timeline: 'device_unregistered',
        statements: [remove(deps, 'devices', { _id })],
      };
    },
  });
}
