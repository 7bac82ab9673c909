// Inserts rows within a quota. The quota holds when several processes insert at the same time: each insert also
// updates a counter of the owner, so of two concurrent inserts the second has a conflict and counts again.
import type { CollectionName, CollectionRows } from '../../schemas/collections.js';
import type { ServiceError } from '../../schemas/errors.js';
import type { Deps } from '../deps.js';
import { retryOnConflict } from './retryOnConflict.js';
import { insert, update } from './statements.js';
import { transact } from './transact.js';

export interface QuotaInsert<N extends CollectionName> {
  merchantId: string;
  /** Whose rows are counted. Inserts for one owner run one after another within this process. */
  owner: string;
  /** Returns how many rows the owner holds now. May throw for another reason why there is no room. */
  countHeld: () => Promise<number>;
  quota: number;
  /** Thrown when the quota is reached. */
  refusal: ServiceError;
  name: N;
  /** Read again after a conflict. All of them are inserted, or none. */
  rows: () => Promise<readonly CollectionRows[N][]>;
}

/** Throws `refusal` when the quota is reached, and UNAVAILABLE. */
export async function insertWithQuota<N extends CollectionName>(deps: Deps, wanted: QuotaInsert<N>): Promise<void> {
  const { merchantId, owner, countHeld, quota, refusal, name, rows } = wanted;
  const _id = `made:${owner}`;
  await deps.runExclusive(_id, () =>
    retryOnConflict(deps, async () => {
      const counter = await deps.collections.counters.findOne({ _id });
      const wanting = await rows();
      if (wanting.length === 0) return;
      if ((await countHeld()) + wanting.length > quota) throw refusal;
      const made = counter?.made ?? 0;
      const counted = counter
        ? update(deps, 'counters', { _id, made }, { $set: { made: made + 1 } })
        : insert(deps, 'counters', { _id, merchantId, made: 1 });
      await transact(deps, [counted, ...wanting.map((row) => insert(deps, name, row))], counter ? 1 : 0);
    }),
  );
}
