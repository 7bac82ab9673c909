// The members of an audience, program by program: each program has its own goal and time zone.
import type { Deps } from '../../platform/deps.js';
import { type Audience, type Conditions, conditionsOf, meets, orders } from '../../schemas/members/audiences.rules.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { readPage } from '../http/page.reads.js';

export interface AudienceList {
  where: Conditions & { merchantId: string; programId: string };
  order: Partial<Record<string, 1 | -1>>;
}

const minuteMs = 60_000;

/** The conditions in each program; a program that was archived has no audience unless it is asked for. */
export async function audienceLists(
  { collections: { programs }, now }: Deps,
  { merchantId, programId, audience }: { merchantId: string; programId?: string | undefined; audience: Audience },
): Promise<AudienceList[]> {
  // To the minute, so that what was costly to count is found again.
  const at = new Date(Math.floor(now().getTime() / minuteMs) * minuteMs);
  const where = { ...(programId !== undefined && { _id: programId }), merchantId };
  const all = await programs.find(where).sort({ _id: 1 }).toArray();
  return all
    .filter(({ archived }) => programId !== undefined || !archived)
    .flatMap((program) => {
      const conditions = conditionsOf(audience, program, at);
      return conditions
        ? [{ where: { merchantId, programId: program._id, ...conditions }, order: orders[audience] }]
        : [];
    });
}

/** Whether a member is in one of the lists; each is where there are none. */
export const isInLists =
  (lists: readonly AudienceList[] | undefined) =>
  (member: MemberRow): boolean =>
    !lists ||
    lists.some(({ where: { merchantId: _, programId, ...conditions } }) =>
      member.programId === programId ? meets(member, conditions) : false,
    );

/** One list after the other. */
export async function audiencePage(
  deps: Deps,
  lists: readonly AudienceList[],
  { page, pageSize }: { page: number; pageSize: number },
): Promise<{ items: MemberRow[]; total: number }> {
  const { members } = deps.collections;
  const totals = await Promise.all(lists.map(({ where }) => deps.countRows(members, where)));
  const read = async (skip: number): Promise<MemberRow[]> => {
    const items: MemberRow[] = [];
    let left = skip;
    for (const [index, { where, order }] of lists.entries()) {
      const total = totals[index] ?? Number.POSITIVE_INFINITY;
      if (left < total && items.length < pageSize)
        items.push(
          ...(await members
            .find(where)
            // In the direction of the first field, as an index has it.
            .sort({ ...order, _id: Object.values(order)[0] ?? -1 })
            .skip(left)
            .limit(pageSize - items.length)
            .toArray()),
        );
      left = Math.max(0, left - total);
    }
    return items;
  };
  const sum = totals.reduce<number | undefined>(
    (all, total) => (all === undefined || total === undefined ? undefined : all + total),
    0,
  );
  return readPage(deps, { page, pageSize, read, count: async () => sum });
}
