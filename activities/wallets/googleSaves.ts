// What Google says of saved and deleted passes. Each callback counts once, by its nonce, in the transaction that it causes; and
// what no callback told is noted when Google is asked.
import type { MemberRow } from '../../schemas/collections.js';
import { parseGoogleObjectId } from '../../schemas/googleIds.js';
import { type Changed, changeMember } from '../changeMember.js';
import type { Store } from '../deps.js';
import { insert, type Statement } from '../transact.js';

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
  return changeSaved(store, {
    member: { _id: memberId, merchantId: known.merchantId },
    saved: save.eventType === 'save',
    holderOf,
    isNews: async () => (await store.rows.nonces.findOne({ _id: save.nonce })) === null,
    statements: [insert(store, 'nonces', { _id: save.nonce, receivedAt: store.now() })],
  });
}

/** What Google itself says of the pass, where no callback came: once, however often it is asked. */
export function noteReconciled(
  store: Store,
  { member, saved }: { member: Pick<MemberRow, '_id' | 'merchantId'>; saved: boolean },
): Promise<Saved | null> {
  const isNews = async ({ pass }: MemberRow) => (pass.googleSaved === true) !== saved;
  // Nobody waits for it: the relay carries it out.
  return changeSaved(store, { member, saved, holderOf: () => null, isNews, statements: [] });
}

interface ChangeSaved {
  member: Pick<MemberRow, '_id' | 'merchantId'>;
  saved: boolean;
  holderOf: (eventId: string) => string | null;
  isNews: (member: MemberRow) => Promise<boolean>;
  statements: Statement[];
}

async function changeSaved(
  store: Store,
  { member: { _id: memberId, merchantId }, saved, holderOf, isNews, statements }: ChangeSaved,
): Promise<Saved | null> {
  const changed = await changeMember(store, {
    merchantId,
    memberId,
    holderOf,
    confirmable: true,
    decide: async (member) => {
      if (!(await isNews(member))) return null;
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
        statements,
      };
    },
  });
  return changed.kind === 'done' || changed.kind === 'unchanged' ? changed : null;
}
