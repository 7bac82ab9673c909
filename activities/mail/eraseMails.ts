// Removes all mails about a member: the rows, and the files of a mail folder. An attempt that is sending a mail right
// now removes its file when it finds the row gone.
import { removeAll } from '../../platform/mongodb/updateMany.js';
import type { WorkerDeps } from '../workerDeps.js';

export async function eraseMails(
  deps: WorkerDeps,
  { merchantId, memberId }: { merchantId: string; memberId: string },
): Promise<void> {
  await removeAll(deps, 'mails', { memberId, merchantId });
  await deps.mailer?.forget([memberId]);
}
