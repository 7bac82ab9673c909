// A batch as callers see it. Progress comes from the counts that the batch's own transactions write.
import type { z } from 'zod';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { type batch, percentOf, ratePerSecondOf } from '../../schemas/batches/batches.schema.js';
import { programIdOf } from '../../schemas/shared/ids.js';

export function presentBatch(row: BatchRow, now: Date, repairedBy?: string): z.input<typeof batch> {
  const { _id: id, kind, phase, programId, counts, passIssuance, startedBy, startedAt, finishedAt } = row;
  return {
    id,
    kind,
    phase,
    ...(programId !== undefined && { programId: programIdOf(programId) }),
    counts: { ...counts, ...(row.leftOut !== undefined && { leftOut: row.leftOut }) },
    passIssuance,
    percent: percentOf(row),
    ratePerSecond: ratePerSecondOf(row, now),
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
    startedBy,
    ...(row.reason !== undefined && { reason: row.reason }),
    ...(row.quiet && { quiet: true }),
    ...(row.mapping && { mapping: Object.fromEntries(row.mapping) }),
    ...(row.repairs !== undefined && { repairs: row.repairs }),
    ...(repairedBy !== undefined && { repairedBy }),
    ...(row.cancelRequestedAt && { cancelRequested: true }),
  };
}
