import type { EventRow } from '../../schemas/events/events.rows.js';

/** Whether the wallets have to be notified and the result is not recorded yet. */
export const isPushPending = ({ passAction, passUpdate }: Pick<EventRow, 'passAction' | 'passUpdate'>): boolean =>
  (passAction === 'push' || passAction === 'refresh') && !passUpdate;
