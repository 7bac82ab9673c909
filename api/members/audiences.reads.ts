// The list of the members of an audience.
import type { AudienceList } from '../../activities/members/audiences.reads.js';
import type { Deps } from '../../platform/deps.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { readPage } from '../http/page.reads.js';

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
