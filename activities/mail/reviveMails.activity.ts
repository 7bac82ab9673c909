// Starts lost workflows of mails again: terminated, gone with Temporal's data, or never started.
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import { workflowLostAt } from '../events/workflowLostAt.rules.js';
import type { WorkerDeps } from '../workerDeps.js';
import { startMail } from './queueMail.writes.js';

/** The next run takes the others, longest due first. */
const batchSize = 200;

export async function reviveMails(deps: WorkerDeps): Promise<{ revived: number }> {
  const lost = await deps.collections.mails
    .find({ dueAt: { $lte: deps.now() } }, { projection: { merchantId: 1, memberId: 1, kind: 1 } })
    .sort({ dueAt: 1 })
    .limit(batchSize)
    .toArray();
  const ids = lost.map(({ _id }) => _id);
  const change = { $set: { dueAt: workflowLostAt(deps) } };
  await updateByIds(deps, 'mails', { ids, where: { state: 'queued' }, change });
  for (const mail of lost) await startMail(deps, mail);
  return { revived: lost.length };
}
