// Erases a member in two steps, each one transaction. The first step voids the pass and removes the name from it, so
// that phones and Google get this last update. The second step removes the member's row, email, external id, search
// words and phones, retires its code, and writes `member.deleted` to the outbox. The row of the erasure exists from the
// first step on, so that every erasure that began is completed. The workflow `eraseMember` removes the remaining data
// (removeTraces.activity.ts, docs/decisions/erasure-in-two-transactions.md).
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert, remove, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { idsWith } from '../../schemas/persons/personalData.schema.js';
import type { ErasureRow } from '../../schemas/persons/persons.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { spentCodeId } from '../../schemas/shared/ids.js';
import { phoneSpellings } from '../../schemas/shared/phone.rules.js';
import { newDeletedEvent } from '../events/newEvent.rules.js';
import type { Decision } from '../members/decision.schema.js';
import { emailRow, externalIdRow } from '../members/newMember.rules.js';

/** When the workflow of an erasure that just began, or just ran, counts as lost. */
export const lostAfterMs = 10_000;

const dueAt = (deps: Pick<Deps, 'now'>): Date => new Date(deps.now().getTime() + lostAfterMs);

/** The values by which the member's data is found, together with those of an earlier step. */
function personOf(member: MemberRow, begun: ErasureRow | null): NonNullable<ErasureRow['person']> {
  const { values = [], names = [], tags = [] } = begun?.person ?? {};
  const { firstName, lastName, email, externalId, memberCode, serialNumber } = member;
  const name = firstName !== undefined && lastName !== undefined ? [{ firstName, lastName }] : [];
  const known = [email, ...phoneSpellings(member), externalId, memberCode].filter((value) => value !== undefined);
  return {
    serialNumber,
    values: [...new Set([...values, ...known])],
    names: [...names, ...name],
    tags: [...new Set([...tags, ...member.tags])],
  };
}

function erasureRow(deps: Deps, member: MemberRow): ErasureRow {
  const { _id, merchantId, programId } = member;
  return { _id, merchantId, programId, person: personOf(member, null), runs: 0, dueAt: dueAt(deps) };
}

/** Voids the pass and removes the name from it. The wallets are notified, subscribers are not. */
export function voidForErasureRule(deps: Deps) {
  return async (member: MemberRow): Promise<Decision> => {
    const begun = await deps.collections.erasures.findOne({ _id: member._id }, { projection: { _id: 1 } });
    return {
      set: { status: 'voided', tags: [] },
      unset: ['firstName', 'lastName', 'email', 'phone', 'phoneE164', 'externalId'],
      push: true,
      mandatory: true,
      event: { type: 'pass.push', data: {} },
      statements: [
        ...(begun ? [] : [insert(deps, 'erasures', erasureRow(deps, member))]),
        ...removedKeys(deps, member),
      ],
    };
  };
}

/** The statements that release the member's email and external id and remove its search words. */
function removedKeys(deps: Deps, member: MemberRow): Statement[] {
  const [email, externalId] = [emailRow(member), externalIdRow(member)];
  return [
    ...(email ? [remove(deps, 'emails', { _id: email._id })] : []),
    ...(externalId ? [remove(deps, 'externalIds', { _id: externalId._id })] : []),
    // All of them, also those that another version of the service has made.
    remove(deps, 'memberSearchWords', idsWith(`${member._id}:`)),
  ];
}

export interface EraseMemberNow {
  merchantId: string;
  memberId: string;
  /** The time of the first erasure, for an erasure that is repeated after a restore. */
  erasedAt?: Date;
  /** The caller has voided the pass; a worker may have completed the erasure since then. */
  isVoided?: boolean;
}

/**
 * Returns when the member was erased. Throws MEMBER_NOT_FOUND, also for a member that is already erased, and
 * UNAVAILABLE.
 */
export function eraseMember(
  deps: Deps,
  { merchantId, memberId, erasedAt: given, isVoided }: EraseMemberNow,
): Promise<Date> {
  let tried: Date | undefined;
  return deps.runExclusive(memberId, () =>
    retryOnConflict(deps, async () => {
      const [member, begun] = await Promise.all([
        deps.collections.members.findOne({ _id: memberId, merchantId }),
        deps.collections.erasures.findOne({ _id: memberId }),
      ]);
      // The previous attempt may have committed although its answer was lost, or a worker completed the erasure.
      if (!member && begun?.erasedAt && (tried || isVoided)) return begun.erasedAt;
      if (!member) throw new ServiceError('MEMBER_NOT_FOUND');
      tried = given ?? deps.now();
      await commitErasure(deps, { member, begun, erasedAt: tried });
      await logAndCount(deps, member, tried);
      return tried;
    }),
  );
}

async function commitErasure(
  deps: Deps,
  { member, begun, erasedAt }: { member: MemberRow; begun: ErasureRow | null; erasedAt: Date },
): Promise<void> {
  const { _id, merchantId, programId, memberCode, version } = member;
  const set = { erasedAt, person: personOf(member, begun), runs: 0, dueAt: dueAt(deps) };
  await transact(
    deps,
    [
      // Matches nothing when the member has changed since it was read; then nothing is written.
      update(deps, 'members', { _id, merchantId, version }, { $inc: { version: 1 } }),
      begun
        ? update(deps, 'erasures', { _id }, { $set: set })
        : insert(deps, 'erasures', { ...erasureRow(deps, member), ...set }),
      insert(deps, 'spentCodes', { _id: spentCodeId(merchantId, memberCode), merchantId }),
      insert(deps, 'events', newDeletedEvent(deps, { _id, merchantId, programId, erasedAt })),
      remove(deps, 'members', { _id }),
      remove(deps, 'devices', { memberId: _id }),
      ...removedKeys(deps, member),
    ],
    begun ? 2 : 1,
  );
}

/** The log line is one of the sources from which erasures are repeated after a restore. */
async function logAndCount(deps: Deps, { _id, merchantId, programId }: MemberRow, erasedAt: Date): Promise<void> {
  deps.log.info({ memberId: _id, merchantId, programId, erasedAt }, 'a member was erased');
  await deps
    .countMembers({ merchantId, programId, created: -1 })
    .catch((error: unknown) => deps.log.warn({ err: error }, 'an erased member is counted until the next recount'));
}
