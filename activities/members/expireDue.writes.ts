// Expires what is due of some members: each guarded by its version, several in a transaction.
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import { toChunks } from '../../platform/toChunks.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { lotsOf, rowOf } from '../../schemas/points/expiry.rules.js';
import { removeExpired } from '../../schemas/points/lots.rules.js';
import { cachedProgram } from '../programs/program.reads.js';
import { type DueExpiryInput, dueExpiry } from './dueExpiry.writes.js';

export const transactionSize = 50;

interface Some {
  memberIds: readonly string[];
  now: Date;
}

/** When a transaction fails, each of its members is tried alone, so that one member does not block the others. */
export async function expireSome(deps: Deps, { memberIds, now }: Some): Promise<{ expired: number; failed: string[] }> {
  try {
    return { expired: await retryOnConflict(deps, () => expireOnce(deps, { memberIds, now })), failed: [] };
  } catch (error) {
    const [only] = memberIds;
    if (memberIds.length === 1 && only !== undefined) {
      deps.log.error(
        { err: error, memberId: only },
        'the points of a member could not expire; the next run tries again',
      );
      return { expired: 0, failed: [only] };
    }
    const alone = [];
    for (const id of memberIds) alone.push(await expireSome(deps, { memberIds: [id], now }));
    return {
      expired: alone.reduce((sum, { expired }) => sum + expired, 0),
      failed: alone.flatMap(({ failed }) => failed),
    };
  }
}

/** Returns the number of members whose points expired. Members that are no longer due stay unchanged. */
async function expireOnce(deps: Deps, { memberIds, now }: Some): Promise<number> {
  const members = await deps.collections.members.find({ _id: { $in: [...memberIds] } }).toArray();
  const written = await Promise.all(
    members.map(async (member) => {
      const program = await cachedProgram(deps, member);
      const expired = dueExpiry(deps, { member, program, now });
      return { statements: expired?.statements ?? withoutOldLots(deps, { member, program, now }), expired };
    }),
  );
  const writing = written.filter(({ statements }) => statements.length > 0);
  if (writing.length > 0)
    await transact(
      deps,
      writing.flatMap(({ statements }) => statements),
      writing.length,
    );
  return written.filter(({ expired }) => expired).length;
}

/** Lots that are due in the member's row alone remain from a rule that was removed. */
function withoutOldLots(deps: Deps, { member, program, now }: DueExpiryInput): Statement[] {
  const { _id, merchantId, version, expiry } = member;
  if (!expiry?.at || expiry.at > now) return [];
  const change = program.expiry
    ? { $set: { expiry: rowOf(program, _id, lotsOf(program, member)) } }
    : { $unset: { expiry: '' } };
  return [update(deps, 'members', { _id, merchantId, version }, change)];
}

type MayBeDue = Pick<MemberRow, '_id' | 'merchantId' | 'programId' | 'balance' | 'expiry'>;

/**
 * The members after what was due has expired, for answers: what cannot be spent is not shown, even when the schedule
 * did not run. A member whose points could not expire is returned as it was read.
 */
export async function withoutDue<Row extends MayBeDue>(
  deps: Deps,
  members: readonly Row[],
): Promise<(Row | MemberRow)[]> {
  const now = deps.now();
  const due: string[] = [];
  for (const member of members) {
    const after = removeExpired(lotsOf(await cachedProgram(deps, member), member), now);
    if (after.changes.length > 0) due.push(member._id);
  }
  if (due.length === 0) return [...members];
  // The audit of a request is about the change that it asks for.
  for (const memberIds of toChunks(due, transactionSize)) await expireSome({ ...deps, audit: [] }, { memberIds, now });
  return Promise.all(
    members.map(async (member) => {
      const { _id, merchantId } = member;
      return due.includes(_id) ? ((await deps.read.member({ _id, merchantId })) ?? member) : member;
    }),
  );
}
