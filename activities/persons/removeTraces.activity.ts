// Removes the remaining data of an erased member from all collections, as schemas/persons/personalData.schema.ts
// declares. Idempotent: a later run only removes what work in progress has written since.
import type { Document } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact, writeBulk } from '../../platform/mongodb/transact.js';
import { removeAll, updateByIds } from '../../platform/mongodb/updateMany.js';
import { defaultChunkSize } from '../../platform/toChunks.js';
import { type Clear, personalData } from '../../schemas/persons/personalData.schema.js';
import type { ErasureRow } from '../../schemas/persons/persons.rows.js';
import { type CollectionName, collectionNames } from '../../schemas/tables/collections.js';
import { eraseMails } from '../mail/eraseMails.writes.js';
import { removeUnusedTags } from '../members/tags.writes.js';
import { createCounting } from '../stats/counting.writes.js';
import { owedClears } from '../wallets/google/clearObjects.activity.js';
import type { WorkerDeps } from '../workerDeps.js';
import { clearBatches } from './clearBatches.writes.js';
import { eraseMember, lostAfterMs } from './eraseMember.writes.js';

/** Completes an erasure whose API process died after its first step, then removes all traces. */
export async function removeTraces(deps: WorkerDeps, { memberId }: { memberId: string }): Promise<void> {
  const erasure = await due(deps, memberId);
  if (!erasure) return;
  const { merchantId, programId, person } = erasure;
  const erasedAt = erasure.erasedAt ?? (await eraseMember(deps, { merchantId, memberId }));
  await writeBulk(deps, owedClears(deps, [memberId]));
  const { serialNumber, values = [], names = [], tags = [] } = person ?? {};
  const whose = { memberId, merchantId, programId, serialNumber, emails: values };
  for (const name of collectionNames) {
    const { ofMember, erase } = personalData[name];
    if (!erase || typeof ofMember !== 'function') continue;
    for (const found of ofMember(whose)) {
      if (erase === 'remove') await removeAll(deps, name, found as never);
      else await clear(deps, { name, found, erase });
    }
    deps.crashPoint('mid-erasure');
  }
  await clearBatches(deps, { ...whose, erasedAt, values, names });
  await removeUnusedTags(deps, { merchantId, tags });
  await eraseMails(deps, whose);
}

/** Moves the time at which the workflow counts as lost. */
function due(deps: Deps, _id: string): Promise<ErasureRow | null> {
  const dueAt = new Date(deps.now().getTime() + 2 * lostAfterMs);
  return deps.collections.erasures.findOneAndUpdate({ _id }, { $set: { dueAt } }, { returnDocument: 'after' });
}

async function clear(
  deps: Deps,
  { name, found, erase: { where, change: changeAt, counts } }: { name: CollectionName; found: Document; erase: Clear },
): Promise<void> {
  const change = changeAt(deps.now());
  const fields = Object.keys(change.$unset);
  // Narrowed to one collection: no method can be called on the union of all.
  const rows = deps.collections[name as 'events'].find(
    { ...found, ...where },
    { projection: counts ? {} : Object.fromEntries(fields.map((field) => [field, 1])) },
  );
  let ids: string[] = [];
  const write = async () => {
    await updateByIds(deps, name as 'events', { ids, change, ...(where && { where }) });
    ids = [];
  };
  for await (const row of rows) {
    // Rows that an earlier run cleared are not written again.
    if (!change.$set && fields.every((field) => valueAt(row, field) === undefined)) continue;
    if (counts && Object.keys(counts(row)).length > 0) {
      await clearCounted(deps, { name, _id: row._id, where, change, counts });
      continue;
    }
    ids.push(row._id);
    if (ids.length === defaultChunkSize) await write();
  }
  await write();
}

interface ClearCounted {
  name: CollectionName;
  _id: string;
  where: Clear['where'];
  change: Document;
  counts: NonNullable<Clear['counts']>;
}

/** Counts what the row counts in the transaction that clears it, unless somebody else has counted or cleared it. */
function clearCounted(deps: Deps, { name, _id, where, change, counts }: ClearCounted): Promise<void> {
  const counting = createCounting(deps);
  return retryOnConflict(deps, async () => {
    const row = await deps.collections[name as 'events'].findOne({ _id, ...where });
    if (!row) return;
    await counting.changeSlotOnConflict(async () => {
      const counters = await counting.statements(counts(row));
      const asRead = { _id, state: row.state, ...where };
      return transact(deps, [update(deps, name, asRead, change), ...counters], 1 + counters.length);
    });
  });
}

const valueAt = (row: Document, path: string): unknown =>
  path.split('.').reduce<unknown>((value, part) => Object(value)[part], row);

/** After this time, the member is searched again, for data that a paused process wrote late. */
const nextRunMs = [60_000, 3_600_000, 86_400_000];

/**
 * Ends one run of the workflow and removes the stored search values. Returns the number of runs so far. The object at
 * Google is cleared after each run, in case it was created in the meantime.
 */
export async function endErasure(deps: Deps, { memberId: _id }: { memberId: string }): Promise<{ runs: number }> {
  deps.crashPoint('before-erasure-end');
  const { runs = 0 } = (await deps.collections.erasures.findOne({ _id }, { projection: { runs: 1 } })) ?? {};
  const waitMs = nextRunMs[runs];
  const next = waitMs === undefined ? undefined : new Date(deps.now().getTime() + waitMs);
  const change = {
    $set: { runs: runs + 1, ...(next && { dueAt: next }) },
    $unset: { person: '', ...(!next && { dueAt: '' }) },
  };
  await writeBulk(deps, [update(deps, 'erasures', { _id, runs }, change), ...owedClears(deps, [_id])]);
  return { runs: runs + 1 };
}
