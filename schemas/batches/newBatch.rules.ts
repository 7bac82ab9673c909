import { newId } from '../shared/ids.js';
import type { BatchRow } from './batches.rows.js';
import type { BatchPhase } from './batches.schema.js';

export type NewBatch = Pick<
  BatchRow,
  | '_id'
  | 'merchantId'
  | 'kind'
  | 'programId'
  | 'subscriptionId'
  | 'startedBy'
  | 'campaign'
  | 'replay'
  | 'mailsCardsOf'
  | 'sendAt'
  | 'automatic'
>;

export const firstPhaseOf = ({ sendAt }: Pick<BatchRow, 'sendAt'>): BatchPhase => (sendAt ? 'scheduled' : 'queued');

export const newRebuild = (
  deps: { now: () => Date },
  of: Pick<BatchRow, 'merchantId' | 'programId' | 'startedBy'>,
): BatchRow => newBatchRow(deps, { _id: newId(), kind: 'passes.rebuild', ...of });

export const newBatchRow = ({ now }: { now: () => Date }, batch: NewBatch): BatchRow => ({
  ...batch,
  phase: firstPhaseOf(batch),
  counts: { total: 0, created: 0, deduped: 0, failed: 0 },
  passIssuance: { apple: 0, google: 0 },
  done: 0,
  startedAt: now(),
});
