// Removes all mails about a member: the rows, and what a mail folder keeps. A mail that is being sent right now is
// forgotten by its attempt, which finds its row gone.
import { removeAll } from '../../platform/mongodb/updateMany.js';
import type { WorkerDeps } from '../workerDeps.js';

export async function eraseMails(
  deps: WorkerDeps,
  { merchantId, memberId }: { merchantId: string; memberId: string },
): Promise<void> {
  await removeAll(deps, 'mails', { memberId, merchantId });
  await deps.mailer?.forget({ memberId });
}
