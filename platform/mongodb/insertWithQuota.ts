// Inserts rows within a quota. The quota holds across processes: each insert also updates a counter of the owner, so of
// two concurrent inserts the second has a conflict and counts again.

import type { ServiceError } from '../../schemas/shared/errors.js';
import type { CollectionName, CollectionRows } from '../../schemas/tables/collections.js';
import type { Deps } from '../deps.js';
import { retryOnConflict } from './retryOnConflict.js';
import { insert, update } from './statements.js';
import { transact } from './transact.js';
import type { Statement, Transaction } from './transaction.js';

export interface QuotaInsert<N extends CollectionName> {
  merchantId: string;
  /** Whose rows are counted. Inserts for one owner run one after another within this process. */
  owner: string;
  /** Returns how many rows the owner has now. May throw to refuse the insert for another reason. */
  countHeld: () => Promise<number>;
  quota: number;
  /** Thrown when the quota is reached. */
  refusal: ServiceError;
  name: N;
  /** Called again after a conflict. All of its rows are inserted, or none. */
  rows: () => Promise<readonly CollectionRows[N][]>;
  /** Further statements of the same transaction; asked after `rows`. */
  also?: () => Transaction | undefined;
}

const counterOf = (owner: string): string => `made:${owner}`;

/**
 * The statement that counts an insert for the owner, and how many documents it must match. It must be read before the
 * rows are counted, so that of two concurrent inserts the second has a conflict.
 */
export async function countInsert(
  deps: Deps,
  { merchantId, owner }: { merchantId: string; owner: string },
): Promise<{ counted: Statement; expectedMatches: number }> {
  const _id = counterOf(owner);
  const counter = await deps.collections.counters.findOne({ _id });
  if (!counter) return { counted: insert(deps, 'counters', { _id, merchantId, made: 1 }), expectedMatches: 0 };
  const { made = 0 } = counter;
  return { counted: update(deps, 'counters', { _id, made }, { $set: { made: made + 1 } }), expectedMatches: 1 };
}

/** Throws `refusal` when the quota is reached, and UNAVAILABLE. */
export async function insertWithQuota<N extends CollectionName>(deps: Deps, wanted: QuotaInsert<N>): Promise<void> {
  const { merchantId, owner, countHeld, quota, refusal, name, rows, also } = wanted;
  await deps.runExclusive(counterOf(owner), () =>
    retryOnConflict(deps, async () => {
      const { counted, expectedMatches } = await countInsert(deps, { merchantId, owner });
      const wanting = await rows();
      if (wanting.length === 0) return;
      if ((await countHeld()) + wanting.length > quota) throw refusal;
      const more = also?.() ?? { statements: [], expectedMatches: 0 };
      await transact(
        deps,
        [counted, ...more.statements, ...wanting.map((row) => insert(deps, name, row))],
        expectedMatches + more.expectedMatches,
      );
    }),
  );
}
