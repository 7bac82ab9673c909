import type { EventRow } from '../../schemas/collections.js';

/** Whether the wallets have to be notified and the result is not recorded yet. */
export const awaitsPush = ({ wallet, passUpdate }: Pick<EventRow, 'wallet' | 'passUpdate'>): boolean =>
  (wallet === 'push' || wallet === 'refresh') && !passUpdate;
