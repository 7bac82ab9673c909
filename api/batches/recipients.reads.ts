// How many members a campaign would reach. Counted as the totals of lists are, so that it costs no more in a large
// merchant. A card is on an iPhone or saved at Google; both have an index that holds only such members.
import { audienceLists } from '../../activities/members/audiences.reads.js';
import type { Deps } from '../../platform/deps.js';
import type { Audience } from '../../schemas/members/audiences.rules.js';

export interface Recipients {
  merchantId: string;
  programId?: string | undefined;
  /** A recipient has all of them. */
  tags: readonly string[];
  audience?: Audience | undefined;
}

interface Counted {
  matched: number;
  reachable: number;
  complete: boolean;
}

type CountDeps = Pick<Deps, 'collections' | 'config' | 'countRows' | 'now'>;

/** `complete` is false when counting ended at LIST_MAX_ROWS, or took too long; the numbers are then lower bounds. */
export async function countRecipients(
  deps: CountDeps,
  { merchantId, programId, tags, audience }: Recipients,
): Promise<Counted> {
  const lists = audience
    ? (await audienceLists(deps, { merchantId, programId, audience })).map(({ where }) => where)
    : [{ ...(programId !== undefined && { programId }), status: 'active' as const }];
  const counted = await Promise.all(
    lists.map((where) =>
      countOne(deps, { ...where, ...(tags.length > 0 && { tags: { $all: [...tags] } }) }, merchantId),
    ),
  );
  return {
    matched: counted.reduce((sum, { matched }) => sum + matched, 0),
    reachable: counted.reduce((sum, { reachable }) => sum + reachable, 0),
    complete: counted.every(({ complete }) => complete),
  };
}

async function countOne(
  { collections, config, countRows }: CountDeps,
  where: object,
  merchantId: string,
): Promise<Counted> {
  const count = (having: object) => countRows(collections.members, { merchantId, ...having, ...where });
  // The embedded engine takes the index of the first fields, so the rarer condition comes first.
  const [all, onIphone, atGoogleAlone] = await Promise.all([
    count({}),
    count({ deviceCount: { $gt: 0 } }),
    count({ 'pass.googleSaved': true, deviceCount: 0 }),
  ]);
  const complete = [all, onIphone, atGoogleAlone].every((one) => one !== undefined && one < config.LIST_MAX_ROWS);
  return { matched: all ?? 0, reachable: (onIphone ?? 0) + (atGoogleAlone ?? 0), complete };
}
