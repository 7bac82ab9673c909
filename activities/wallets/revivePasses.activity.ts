// Retries passes and pushes that a wallet did not accept in time, in workflows. `pass.issueDueAt` of the member and
// `pushDueAt` of the event say when such a workflow counts as lost; each attempt moves that time ahead. Overdue rows
// get a new workflow.
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import { toChunks } from '../../platform/toChunks.js';
import type { RetryPasses } from '../../schemas/tables/workflows.js';
import { isPushPending } from '../events/isPushPending.rules.js';
import { clearPushDue, markIssueDue, markPushDue } from '../events/lostRetries.writes.js';
import type { WorkerDeps } from '../workerDeps.js';
import { startRetry } from './startRetry.effect.js';

const batchSize = 200;
/** Well below the activity's timeout; the next run continues with the rows that are longest due. */
const workMs = 15_000;
/** The passes and pushes of one workflow. */
const groupSize = 20;
/** As long as workflows push (activityOptions.ts); a later push sends the newest state in any case. */
const pushForMs = 24 * 3_600_000;

export async function reviveIssues(deps: WorkerDeps): Promise<{ revived: number }> {
  return forEachBatch(async () => {
    const lost = await deps.collections.members
      .find({ 'pass.issueDueAt': { $lte: deps.now() } }, { projection: { merchantId: 1 } })
      .sort({ 'pass.issueDueAt': 1 })
      .limit(batchSize)
      .toArray();
    const ids = lost.map(({ _id }) => _id);
    await markIssueDue(deps, ids);
    await restart(deps, lost, (merchantId, memberIds) => ({ merchantId, memberIds, eventIds: [] }));
    return ids.length;
  });
}

const about = { merchantId: 1, memberId: 1, occurredAt: 1, passAction: 1, passUpdate: 1 } as const;

export async function revivePushes(deps: WorkerDeps): Promise<{ revived: number }> {
  return forEachBatch(async () => {
    const due = await deps.collections.events
      .find({ pushDueAt: { $lte: deps.now() } }, { projection: about })
      .sort({ pushDueAt: 1 })
      .limit(batchSize)
      .toArray();
    const givenUpBefore = deps.now().getTime() - pushForMs;
    const isGivenUp = ({ occurredAt }: { occurredAt: Date }) => occurredAt.getTime() <= givenUpBefore;
    // An attempt that took long may mark an event whose push another one has recorded.
    const owed = due.filter(isPushPending);
    const lost = owed.filter((event) => !isGivenUp(event));
    const ids = lost.map(({ _id }) => _id);
    const givenUp = owed.filter(isGivenUp);
    const memberIds = givenUp.flatMap(({ memberId }) => memberId ?? []);
    const now = deps.now();
    // The wallets are still owed the newest state.
    await updateByIds(deps, 'members', {
      ids: memberIds,
      change: { $set: { 'pass.appleDueAt': now, 'pass.googleDueAt': now } },
    });
    await clearPushDue(
      deps,
      due.map(({ _id }) => _id).filter((id) => !ids.includes(id)),
    );
    await markPushDue(deps, ids);
    await restart(deps, lost, (merchantId, eventIds) => ({ merchantId, memberIds: [], eventIds }));
    return due.length;
  });
}

async function forEachBatch(work: () => Promise<number>): Promise<{ revived: number }> {
  const until = performance.now() + workMs;
  let revived = 0;
  for (let found = batchSize; found === batchSize && performance.now() < until; revived += found) found = await work();
  return { revived };
}

/** A failed start is repeated when its rows are due again, and does not delay others. */
async function restart(
  deps: WorkerDeps,
  rows: readonly { _id: string; merchantId: string }[],
  inputOf: (merchantId: string, ids: string[]) => RetryPasses,
): Promise<void> {
  for (const merchantId of new Set(rows.map((row) => row.merchantId))) {
    const ofMerchant = rows.filter((row) => row.merchantId === merchantId);
    for (const some of toChunks(ofMerchant, groupSize)) {
      const input = inputOf(
        merchantId,
        some.map(({ _id }) => _id),
      );
      await startRetry(deps, input).catch((error: unknown) =>
        deps.log.warn({ err: error, merchantId }, 'late passes could not be started again; a later run tries it'),
      );
    }
  }
}
