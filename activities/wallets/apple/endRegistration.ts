// Ends a registration, because the device removed the pass, or because APNs answered that the device is gone. A
// registration ends only once, however often this is called.

import type { Deps } from '../../../platform/deps.js';
import { remove } from '../../../platform/mongodb/statements.js';
import type { DeviceRow, MemberRow } from '../../../schemas/collections.js';
import { changeMember } from '../../members/changeMember.js';

/** Returns the id of the `pass.removed` event, or null when there was no such registration. */
export async function endRegistration(
  deps: Deps,
  {
    device,
    leaseOwnerOf,
  }: { device: Pick<DeviceRow, '_id' | 'merchantId' | 'memberId'>; leaseOwnerOf: (eventId: string) => string | null },
): Promise<{ eventId: string; member: MemberRow } | null> {
  const { _id, merchantId, memberId } = device;
  const changed = await changeMember(deps, {
    merchantId,
    memberId,
    leaseOwnerOf,
    temporalAvailable: true,
    decide: async (member) => {
      const registered = await deps.collections.devices.findOne({ _id }, { projection: { _id: 1 } });
      if (!registered) return null;
      return {
        set: { deviceCount: Math.max(member.deviceCount - 1, 0) },
        wallet: false,
        event: { type: 'pass.removed', data: { serialNumber: member.serialNumber, platform: 'apple' } },
        timeline: { type: 'device_unregistered', platform: 'apple' },
        statements: [remove(deps, 'devices', { _id })],
      };
    },
  });
  return changed.kind === 'done' ? { eventId: changed.eventId, member: changed.member } : null;
}
