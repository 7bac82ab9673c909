// Changing who a member is: names, email, phone. The search words change in the same transaction, and an email stays unique
// in its program.
import type { z } from 'zod';
import type { MemberRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import type { memberPatch } from '../schemas/members.js';
import type { Decision } from './changeMember.js';
import { updated } from './decisions.js';
import type { Store } from './deps.js';
import { dedupeKeyOf, tokenRows } from './newMember.js';
import { insert, remove } from './transact.js';

const fields = ['firstName', 'lastName', 'email', 'phone'] as const;

/** Null when the patch changes nothing. */
export function decideUpdate(store: Store, patch: z.output<typeof memberPatch>) {
  return (member: MemberRow): Decision | null => {
    const changed = fields.filter(
      (field) => patch[field] !== undefined && (patch[field] ?? undefined) !== member[field],
    );
    if (changed.length === 0) return null;
    const after: MemberRow = { ...member };
    const unset: NonNullable<Decision['unset']> = [];
    const set: Decision['set'] = {};
    for (const field of changed) {
      const value = patch[field];
      if (typeof value === 'string') {
        after[field] = value;
        set[field] = value;
      } else {
        delete after[field];
        unset.push(field);
      }
    }
    set.dedupeKey = dedupeKeyOf(member.programId, after.email, member._id);
    const decision = updated(member, { changed, set, wallet: false });
    return {
      ...decision,
      unset,
      statements: [
        remove(store, 'memberTokens', { memberId: member._id }),
        ...tokenRows(after).map((token) => insert(store, 'memberTokens', token)),
      ],
    };
  };
}

/** Throws EMAIL_TAKEN. The unique index has the last word; this one has the clear message. */
export async function requireFreeEmail(
  store: Store,
  { member, email }: { member: MemberRow; email: string | null | undefined },
): Promise<void> {
  if (!email) return;
  const holder = await store.rows.members.findOne({
    dedupeKey: dedupeKeyOf(member.programId, email, ''),
    merchantId: member.merchantId,
  });
  if (holder && holder._id !== member._id) throw new ServiceError('EMAIL_TAKEN');
}
