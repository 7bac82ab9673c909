// Changes a member's names, email, phone and external id. Search words are updated in the same transaction. Email and
// external id stay unique in the program.
import type { z } from 'zod';
import type { Deps } from '../../platform/deps.js';
import { insert, remove } from '../../platform/mongodb/statements.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { memberPatch } from '../../schemas/members/members.schema.js';
import { idsWith } from '../../schemas/persons/personalData.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { e164 } from '../../schemas/shared/phone.rules.js';
import { cachedProgram } from '../programs/program.reads.js';
import type { Decision } from './decision.schema.js';
import { requireFree } from './memberCodes.reads.js';
import { memberUpdated } from './members.rules.js';
import {
  emailKey,
  emailRow,
  externalIdKey,
  externalIdRow,
  requireShowable,
  searchWordRows,
} from './newMember.rules.js';

const fields = ['firstName', 'lastName', 'email', 'phone', 'externalId'] as const;

/** The decision is null when the patch changes nothing. Throws EMAIL_TAKEN, EXTERNAL_ID_TAKEN, VALIDATION_FAILED. */
export function updateRule(deps: Deps, patch: z.output<typeof memberPatch>) {
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
    if (changed.includes('externalId')) requireShowable(await cachedProgram(deps, member), after.externalId);
    if (changed.includes('phone')) {
      const { country } = await cachedProgram(deps, member);
      const phoneE164 = after.phone === undefined ? undefined : e164(after.phone, country);
      delete after.phoneE164;
      if (phoneE164 === undefined) unset.push('phoneE164');
      else after.phoneE164 = set.phoneE164 = phoneE164;
    }
    const moved = [
      ...(changed.includes('email') ? await moveEmail(deps, { member, after }) : []),
      ...(changed.includes('externalId') ? await moveExternalId(deps, { member, after }) : []),
    ];
    return {
      ...memberUpdated(member, { changed, set }),
      unset,
      statements: [...moved, ...(await newWords(deps, after))],
    };
  };
}

/** The statements for the search words that change. Those that are stored may follow the rule of another version. */
async function newWords(deps: Deps, after: MemberRow): Promise<Statement[]> {
  const own = idsWith(`${after._id}:`);
  const stored = await deps.collections.memberSearchWords.find(own, { projection: { _id: 1 } }).toArray();
  const before = new Set(stored.map(({ _id }) => _id));
  const wanted = searchWordRows(after);
  const kept = wanted.map(({ _id }) => _id);
  return [
    remove(deps, 'memberSearchWords', { _id: { ...own._id, $nin: kept } }),
    ...wanted.filter(({ _id }) => !before.has(_id)).map((row) => insert(deps, 'memberSearchWords', row)),
  ];
}

/**
 * Throws EMAIL_TAKEN. When another member takes the email at the same moment, the insert fails with a duplicate key and
 * the change is decided again.
 */
async function moveEmail(deps: Deps, { member, after }: { member: MemberRow; after: MemberRow }): Promise<Statement[]> {
  const row = emailRow(after);
  const taken = row && (await deps.collections.emails.findOne({ _id: row._id }, { projection: { _id: 1 } }));
  if (taken) throw new ServiceError('EMAIL_TAKEN');
  return [
    ...(member.email ? [remove(deps, 'emails', { _id: emailKey(member.programId, member.email) })] : []),
    ...(row ? [insert(deps, 'emails', row)] : []),
  ];
}

/** Like moveEmail. Throws EXTERNAL_ID_TAKEN. */
async function moveExternalId(
  deps: Deps,
  { member, after }: { member: MemberRow; after: MemberRow },
): Promise<Statement[]> {
  const row = externalIdRow(after);
  const { programId, externalId } = member;
  if (row) await requireFree(deps, row, programId);
  return [
    ...(externalId ? [remove(deps, 'externalIds', { _id: externalIdKey(programId, externalId) })] : []),
    ...(row ? [insert(deps, 'externalIds', row)] : []),
  ];
}
