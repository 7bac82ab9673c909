// Reports, as `pass.removed`, the removals that endRegistration.writes.ts did not report at once.
import { remove } from '../../../platform/mongodb/statements.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import type { RemovalRow } from '../../../schemas/wallets/wallets.rows.js';
import type { WorkerDeps } from '../../workerDeps.js';
import { changePass } from '../changePass.writes.js';

const batchSize = 200;

/** Reports up to 200 removals; the next run reports the others. */
export async function reportRemovals(deps: WorkerDeps): Promise<void> {
  const due = await deps.collections.removals
    .find({ reportAt: { $lte: deps.now() } })
    .sort({ reportAt: 1 })
    .limit(batchSize)
    .toArray();
  for (const removal of due) await report(deps, removal).catch((error: unknown) => dropOrRetry(deps, removal, error));
}

async function report(deps: WorkerDeps, { _id, merchantId, memberId }: RemovalRow): Promise<void> {
  await changePass(deps, {
    member: { _id: memberId, merchantId },
    platform: 'apple',
    // No caller waits for this event, so the relay publishes it.
    chooseLeaseOwner: () => null,
    decide: async () => {
      if (!(await deps.collections.removals.findOne({ _id }))) return null;
      const statements = [remove(deps, 'removals', { _id })];
      return { type: 'pass.removed', timeline: 'device_unregistered', statements };
    },
  });
}

const retryMs = 60_000;

/** Without the member there is nothing to report. Any other failure is retried after the others. */
async function dropOrRetry(deps: WorkerDeps, { _id }: RemovalRow, error: unknown): Promise<void> {
  const { removals } = deps.collections;
  if (error instanceof ServiceError && error.code === 'MEMBER_NOT_FOUND') {
    await removals.deleteOne({ _id });
    return;
  }
  deps.log.warn({ err: error }, 'a removal could not be reported');
  const reportAt = new Date(deps.now().getTime() + retryMs);
  await removals.updateOne({ _id, reportAt: { $exists: true } }, { $set: { reportAt } });
}
