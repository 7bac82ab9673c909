// Records which passes customers have saved or deleted at Google. Each callback counts once: its nonce is stored in the
// transaction of the change. Saves without a callback are recorded by the reconciliation, which asks Google.
import type { Deps } from '../../../platform/deps.js';
import { insert } from '../../../platform/mongodb/statements.js';
import type { Statement } from '../../../platform/mongodb/transaction.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { parseGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import type { Done } from '../../members/change.schema.js';
import { type ChangePass, changePass } from '../changePass.writes.js';

export interface GoogleSave {
  issuerId: string;
  eventType: 'save' | 'del';
  objectId: string;
  nonce: string;
}

/** Returns null when the object belongs to no member here, or for a repeated callback. */
export async function recordGoogleSave(
  deps: Deps,
  { save, chooseLeaseOwner }: Pick<ChangePass, 'chooseLeaseOwner'> & { save: GoogleSave },
): Promise<Done | null> {
  const _id = parseGoogleObjectId(save.issuerId, save.objectId);
  const member = _id && (await deps.collections.members.findOne({ _id }, { projection: { merchantId: 1 } }));
  if (!member) return null;
  return changeSaved(deps, {
    member,
    saved: save.eventType === 'save',
    chooseLeaseOwner,
    isNew: async () => (await deps.collections.nonces.findOne({ _id: save.nonce })) === null,
    statements: [insert(deps, 'nonces', { _id: save.nonce, receivedAt: deps.now() })],
  });
}

/**
 * Records Google's answer about a pass whose callback never came. `member` is the member as it was read before Google
 * was asked: when it has changed since, a newer answer or callback may have been recorded, and nothing is. Returns null
 * when nothing was recorded.
 */
export function recordReconciledSave(
  deps: Deps,
  { member, saved }: { member: Pick<MemberRow, '_id' | 'merchantId' | 'version'>; saved: boolean },
): Promise<Done | null> {
  const isNew = async ({ pass, version }: MemberRow) =>
    version === member.version && (pass.googleSaved === true) !== saved;
  // No caller waits for this change, so the relay processes its event.
  return changeSaved(deps, { member, saved, chooseLeaseOwner: () => null, isNew, statements: [] });
}

interface ChangeSaved extends Pick<ChangePass, 'member' | 'chooseLeaseOwner'> {
  saved: boolean;
  isNew: (member: MemberRow) => Promise<boolean>;
  statements: Statement[];
}

/** A save also refreshes the object, because changes are not pushed to an object that no customer has saved. */
function changeSaved(deps: Deps, { saved, isNew, statements, ...given }: ChangeSaved): Promise<Done | null> {
  return changePass(deps, {
    ...given,
    platform: 'google',
    decide: async (member) =>
      (await isNew(member))
        ? {
            type: saved ? 'pass.installed' : 'pass.removed',
            pass: { googleSaved: saved },
            ...(saved && { refresh: true as const }),
            timeline: saved ? 'google_object_saved' : 'google_object_removed',
            statements,
          }
        : null,
  });
}
