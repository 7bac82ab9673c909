// The conditions of an audience, program by program: each program has its own goal and time zone.
import type { Deps } from '../../platform/deps.js';
import { type Audience, type Conditions, conditionsOf, meets, orders } from '../../schemas/members/audiences.rules.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';

export interface AudienceList {
  where: Conditions & { merchantId: string; programId: string };
  order: (typeof orders)[Audience];
}

const minuteMs = 60_000;

/** The conditions in each program; a program that was archived has no audience unless it is asked for. */
export async function audienceLists(
  { collections: { programs }, now }: Pick<Deps, 'collections' | 'now'>,
  {
    merchantId,
    programId,
    audience,
    at = now(),
  }: { merchantId: string; programId?: string | undefined; audience: Audience; at?: Date | undefined },
): Promise<AudienceList[]> {
  // To the minute, so that what was costly to count is found again.
  const minute = new Date(Math.floor(at.getTime() / minuteMs) * minuteMs);
  const where = { ...(programId !== undefined && { _id: programId }), merchantId };
  const all = await programs.find(where).sort({ _id: 1 }).toArray();
  return all
    .filter(({ archived }) => programId !== undefined || !archived)
    .flatMap((program) => {
      const conditions = conditionsOf(audience, program, minute);
      return conditions
        ? [{ where: { merchantId, programId: program._id, ...conditions }, order: orders[audience] }]
        : [];
    });
}

/** Whether a member is in one of the lists; each is where there are none. */
export const isInLists =
  (lists: readonly AudienceList[] | undefined) =>
  (member: Pick<MemberRow, keyof Conditions | 'programId'>): boolean =>
    !lists ||
    lists.some(({ where: { merchantId: _, programId, ...conditions } }) =>
      member.programId === programId ? meets(member, conditions) : false,
    );
