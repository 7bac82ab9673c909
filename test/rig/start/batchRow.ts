import type { BatchRow } from '../../../schemas/batches/batches.rows.js';
import { newId } from '../../../schemas/shared/ids.js';

/** The database row of a batch in which nothing is done yet. */
export const batchRow = (fields: Pick<BatchRow, 'merchantId' | 'kind' | 'phase'> & Partial<BatchRow>): BatchRow => ({
  _id: newId(),
  counts: { total: 0, created: 0, deduped: 0, failed: 0 },
  passIssuance: { apple: 0, google: 0 },
  done: 0,
  startedBy: { type: 'user', id: 'test' },
  startedAt: new Date(),
  ...fields,
});
