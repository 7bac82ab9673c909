// Records which passes customers have saved or deleted at Google. Each callback counts once: its nonce is stored in the
// transaction of the change. Saves without a callback are recorded by the reconciliation, which asks Google.

import type { Deps } from '../../../platform/deps.js';
import { insert } from '../../../platform/mongodb/statements.js';
import type { Statement } from '../../../platform/mongodb/transaction.js';
import type { MemberRow } from '../../../schemas/collections.js';
import { parseGoogleObjectId } from '../../../schemas/googleIds.js';
import { changeMember } from '../../members/changeMember.js';
import type { Changed } from '../../members/changeTypes.js';

export interface GoogleSave {
  issuerId: string;
  eventType: 'save' | 'del';
  objectId: string;
  nonce: string;
}

export type Saved = Extract<Changed, { kind: 'done' | 'unchanged' }>;

/**
 * Returns null when the object belongs to no member here. A save also refreshes the object, because changes are not
 * pushed to an object that no customer has saved.
 */
export async function recordGoogleSave(
  deps: Deps,
  { save, leaseOwnerOf }: { save: GoogleSave; leaseOwnerOf: (eventId: string) => string | null },
): Promise<Saved | null> {
  const memberId = parseGoogleObjectId(save.issuerId, save.objectId);
  const known = memberId
    ? await deps.collections.members.findOne({ _id: memberId }, { projection: { merchantId: 1 } })
    : null;
  if (!memberId || !known) return null;
  return changeSaved(deps, {
    member: { _id: memberId, merchantId: known.merchantId },
    saved: save.eventType === 'save',
    leaseOwnerOf,
    isNew: async () => (await deps.collections.nonces.findOne({ _id: save.nonce })) === null,
    statements: [insert(deps, 'nonces', { _id: save.nonce, receivedAt: deps.now() })],
  });
}

/**
 * Records what Google itself answered about a pass whose callback never came. Has no effect when the member is up to
 * date.
 */
export function recordReconciledSave(
  deps: Deps,
  { member, saved }: { member: Pick<MemberRow, '_id' | 'merchantId'>; saved: boolean },
): Promise<Saved | null> {
  const isNew = async ({ pass }: MemberRow) => (pass.googleSaved === true) !== saved;
  // No caller waits for this change, so the relay processes its event.
  return changeSaved(deps, { member, saved, leaseOwnerOf: () => null, isNew, statements: [] });
}

interface ChangeSaved {
  member: Pick<MemberRow, '_id' | 'merchantId'>;
  saved: boolean;
  leaseOwnerOf: (eventId: string) => string | null;
  isNew: (member: MemberRow) => Promise<boolean>;
  statements: Statement[];
}

async function changeSaved(
  deps: Deps,
  { member: { _id: memberId, merchantId }, saved, leaseOwnerOf, isNew, statements }: ChangeSaved,
): Promise<Saved | null> {
  const changed = await changeMember(deps, {
    merchantId,
    memberId,
    leaseOwnerOf,
    temporalAvailable: true,
    decide: async (member) => {
      if (!(await isNew(member))) return null;
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
