// Starts the missing workflows of unfinished batches (terminated, lost or never started), and of automatic messages.
// They read from the database where to continue.
import type { Filter } from 'mongodb';
import { toChunks } from '../../platform/toChunks.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { unfinishedPhases } from '../access/batchRoom.writes.js';
import { reviveRules } from './automaticMessages.activity.js';
import { type StartBatchDeps, workflowOf } from './startBatch.effect.js';

/** Younger batches are skipped: the request that created one may still be starting it. */
const settledMs = 30_000;
/** The batches of one call, in the order of their ids. */
const mostOfCall = 500;
const revivedAtOnce = 20;
/** Well below the activity's timeout. */
const workMs = 10_000;

/** Filters for the batches whose workflow may be missing. */
export function toRevive({ now }: Pick<StartBatchDeps, 'now'>): Filter<BatchRow>[] {
  const settled = { $lt: new Date(now().getTime() - settledMs) };
  return [
    { phase: { $in: unfinishedPhases }, startedAt: settled },
    { phase: 'scheduled', sendAt: settled },
    { unissued: true },
  ];
}

export interface RevivedBatches {
  revived: number;
  /** The last batch that was checked; absent at the end. */
  next?: string;
}

/**
 * Starts the missing workflows of batches that have work left, from `after` on. A batch that fails does not delay the
 * others.
 */
export async function reviveBatches(deps: StartBatchDeps, { after = '' }: { after?: string }): Promise<RevivedBatches> {
  const { batches } = deps.collections;
  const until = performance.now() + workMs;
  const rules = after === '' ? await reviveRules(deps) : 0;
  const idsOf = (where: Filter<BatchRow>) =>
    batches
      .find({ ...where, _id: { $gt: after } }, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(mostOfCall)
      .toArray();
  const found = await Promise.all(toRevive(deps).map(idsOf));
  const ids = [...new Set(found.flat().map(({ _id }) => _id))].toSorted().slice(0, mostOfCall);
  let revived = 0;
  for (const some of toChunks(ids, revivedAtOnce)) {
    const rows = await batches.find({ _id: { $in: some } }).toArray();
    await Promise.all(rows.map((batch) => revive(deps, batch)));
    revived += some.length;
    if (performance.now() > until) break;
  }
  const next = ids[revived - 1];
  const isEnd = revived === ids.length && ids.length < mostOfCall;
  return { revived: revived + rules, ...(!isEnd && next !== undefined && { next }) };
}

async function revive(deps: StartBatchDeps, batch: BatchRow): Promise<void> {
  try {
    if (batch.phase !== 'storing') await deps.workflowClient.start(workflowOf(batch, `${batch.kind}, started again`));
  } catch (error) {
    deps.log.warn({ err: error, batchId: batch._id }, 'a batch could not be started again; the next run tries it');
  }
}
