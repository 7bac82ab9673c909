// Removes all mails about a member, and to its addresses while they are not confirmed: the rows, and the files of a
// mail folder. An attempt that is sending a mail right now removes its file when it finds the row gone.
import { removeAll } from '../../platform/mongodb/updateMany.js';
import { confirmationMark } from '../../schemas/shared/ids.js';
import type { WorkerDeps } from '../workerDeps.js';

interface EraseMails {
  merchantId: string;
  memberId: string;
  programId: string;
  emails: readonly string[];
}

export async function eraseMails(
  deps: WorkerDeps,
  { merchantId, memberId, programId, emails }: EraseMails,
): Promise<void> {
  const marks = emails.map((email) => confirmationMark(programId, email));
  await removeAll(deps, 'mails', { memberId, merchantId });
  await removeAll(deps, 'mails', { mark: { $in: marks }, merchantId });
  await deps.mailer?.forget([memberId, ...marks]);
}
