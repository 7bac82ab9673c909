// A pass leaves a device: because the device says so, or because APNs says that the device is gone. Once for each
// registration, whoever says it and however often.
import type { DeviceRow, MemberRow } from '../../schemas/collections.js';
import { changeMember } from '../changeMember.js';
import type { Store } from '../deps.js';
import { remove } from '../transact.js';

/** Answers the event that tells of it, or null when there was no such registration. */
export async function endRegistration(
  store: Store,
  {
    device,
    holderOf,
  }: { device: Pick<DeviceRow, '_id' | 'merchantId' | 'memberId'>; holderOf: (eventId: string) => string | null },
): Promise<{ eventId: string; member: MemberRow } | null> {
  const { _id, merchantId, memberId } = device;
  const changed = await changeMember(store, {
    merchantId,
    memberId,
    holderOf,
    confirmable: true,
    decide: async (member) => {
      const registered = await store.rows.devices.findOne({ _id }, { projection: { _id: 1 } });
      if (!registered) return null;
      return {
        set: { deviceCount: Math.max(member.deviceCount - 1, 0) },
        wallet: false,
        event: { type: 'pass.removed', data: { serialNumber: member.serialNumber, platform: 'apple' } },
        timeline: { type: 'device_unregistered', platform: 'apple' },
        statements: [remove(store, 'devices', { _id })],
      };
    },
  });
  return changed.kind === 'done' ? { eventId: changed.eventId, member: changed.member } : null;
}
