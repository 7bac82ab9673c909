// What Google says of saved and deleted passes. Each callback counts once, by its nonce, in the transaction that it causes.
import { parseGoogleObjectId } from '../../schemas/googleIds.js';
import { type Changed, changeMember } from '../changeMember.js';
import type { Store } from '../deps.js';
import { insert } from '../transact.js';

export interface GoogleSave {
  issuerId: string;
  eventType: 'save' | 'del';
  objectId: string;
  nonce: string;
}

export type Saved = Extract<Changed, { kind: 'done' | 'unchanged' }>;

/** Null when the object is of no member here. A save brings the object up to date: nobody kept it current before. */
export async function noteGoogleSave(
  store: Store,
  { save, holderOf }: { save: GoogleSave; holderOf: (eventId: string) => string | null },
): Promise<Saved | null> {
  const memberId = parseGoogleObjectId(save.issuerId, save.objectId);
  const known = memberId
    ? await store.rows.members.findOne({ _id: memberId }, { projection: { merchantId: 1 } })
    : null;
  if (!memberId || !known) return null;
  const saved = save.eventType === 'save';
  const changed = await changeMember(store, {
    merchantId: known.merchantId,
    memberId,
    holderOf,
    confirmable: true,
    decide: async (member) => {
      const seen = await store.rows.nonces.findOne({ _id: save.nonce });
      if (seen) return null;
      return {
        set: {},
        pass: { googleSaved: saved },
        wallet: false,
        ...(saved && { refresh: true as const }),
        event: {
          type: saved ? 'pass.installed' : 'pass.removed',
          data: { serialNumber: member.serialNumber, platform: 'google' },
        },
        timeline: { type: saved ? 'google_object_saved' : 'google_object_removed', platform: 'google' },
        statements: [insert(store, 'nonces', { _id: save.nonce, receivedAt: store.now() })],
      };
    },
  });
  return changed.kind === 'done' || changed.kind === 'unchanged' ? changed : null;
}
