// A cap on how many rows somebody may hold, true however many processes create at once: each row is written together with a
// counter that its decision was built on, so of two decisions over the same rows the second is made again.
import type { CollectionName, Rows } from '../schemas/collections.js';
import { type ErrorCode, ServiceError } from '../schemas/errors.js';
import type { Store } from './deps.js';
import { decideAgain, insert, transact, update } from './transact.js';

export interface UnderCap<N extends CollectionName> {
  merchantId: string;
  /** Whose rows are counted; also the order in which this process takes them. */
  owner: string;
  /** How many there are now. */
  held: () => Promise<number>;
  cap: number;
  /** Thrown where the cap is reached. */
  full: ErrorCode;
  name: N;
  row: Rows[N];
}

/** Throws `full`, UNAVAILABLE. */
export async function insertUnderCap<N extends CollectionName>(store: Store, wanted: UnderCap<N>): Promise<void> {
  const { merchantId, owner, held, cap, full, name, row } = wanted;
  const _id = `made:${owner}`;
  await store.inTurn(_id, () =>
    decideAgain(store, async () => {
      const counter = await store.rows.counters.findOne({ _id });
      if ((await held()) >= cap) throw new ServiceError(full);
      const made = counter?.made ?? 0;
      const counted = counter
        ? update(store, 'counters', { _id, made }, { $set: { made: made + 1 } })
        : insert(store, 'counters', { _id, merchantId, made: 1 });
      await transact(store, [counted, insert(store, name, row)], counter ? 1 : 0);
    }),
  );
}
