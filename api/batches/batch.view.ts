// A batch as callers see it. Progress comes from the counts that the batch's own transactions write.
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { batch, percentOf, ratePerSecondOf } from '../../schemas/batches/batches.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import { programIdOf } from '../../schemas/shared/ids.js';

/** What an answer tells of an import, read from other batches. */
interface Followed {
  repairedBy?: string | undefined;
  cardMails?: 'possible' | 'started' | undefined;
}

export const presentBatch = (row: BatchRow, now: Date, { repairedBy, cardMails }: Followed = {}) =>
  shown(batch, row, {
    programId: row.programId && programIdOf(row.programId),
    counts: { ...row.counts, leftOut: row.leftOut },
    percent: percentOf(row),
    ratePerSecond: ratePerSecondOf(row, now),
    mapping: row.mapping && Object.fromEntries(row.mapping),
    repairedBy,
    cardMails,
    cancelRequested: row.cancelRequestedAt && true,
  });
