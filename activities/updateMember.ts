// Changing who a member is: names, email, phone. The search words change in the same transaction, and an email stays unique
// in its program.
import type { z } from 'zod';
import type { MemberRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import type { memberPatch } from '../schemas/members.js';
import type { Decision } from './changeMember.js';
import { updated } from './decisions.js';
import type { Store } from './deps.js';
import { emailKey, emailRow, tokenRows } from './newMember.js';
import { insert, remove, type Statement } from './transact.js';

const fields = ['firstName', 'lastName', 'email', 'phone'] as const;

/** Null when the patch changes nothing. Throws EMAIL_TAKEN. */
export function decideUpdate(store: Store, patch: z.output<typeof memberPatch>) {
  return async (member: MemberRow): Promise<Decision | null> => {
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
    const moved = changed.includes('email') ? await moveEmail(store, { member, after }) : [];
    const decision = updated(member, { changed, set, wallet: false });
    return {
      ...decision,
      unset,
      statements: [...moved, ...newWords(store, { member, after })],
    };
  };
}

/** A word's id tells its member and itself, so what changed is known without looking. */
function newWords(store: Store, { member, after }: { member: MemberRow; after: MemberRow }): Statement[] {
  const before = new Set(tokenRows(member).map(({ _id }) => _id));
  const wanted = tokenRows(after);
  const gone = [...before].filter((id) => !wanted.some(({ _id }) => _id === id));
  return [
    ...(gone.length > 0 ? [remove(store, 'memberTokens', { _id: { $in: gone } })] : []),
    ...wanted.filter(({ _id }) => !before.has(_id)).map((token) => insert(store, 'memberTokens', token)),
  ];
}

/** Throws EMAIL_TAKEN. Whoever takes the address in the same moment is found out by the insert, and decides again. */
async function moveEmail(
  store: Store,
  { member, after }: { member: MemberRow; after: MemberRow },
): Promise<Statement[]> {
  const row = emailRow(after);
  const taken = row && (await store.rows.emails.findOne({ _id: row._id }, { projection: { _id: 1 } }));
  if (taken) throw new ServiceError('EMAIL_TAKEN');
  return [
    ...(member.email ? [remove(store, 'emails', { _id: emailKey(member.programId, member.email) })] : []),
    ...(row ? [insert(store, 'emails', row)] : []),
  ];
}
