// Updates the classes of changed programs at Google. The transaction that changes a program also writes a row of
// `classUpdates`; the row is removed when Google has accepted the class. A worker that finds one starts the
// workflow of this job.

import { googleProgramView } from '../../../schemas/wallets/passes.view.js';
import type { ClassUpdateRow } from '../../../schemas/wallets/wallets.rows.js';
import type { WorkerDeps } from '../../workerDeps.js';
import type { GoogleWallet } from '../wallets.client.js';
import { GoogleWalletError } from './googleWalletError.rules.js';

/** Well below the activity's timeout; the next run of the workflow finds the other rows. */
const workMs = 15_000;

/** Whether Google would refuse this class again. Without permission, it refuses every class until it is granted. */
export const isFinalRefusal = ({ mayPass, kind }: GoogleWalletError): boolean => !mayPass && kind !== 'forbidden';

/** Throws GoogleWalletError when a class has to be tried again, after all other classes were tried. */
export async function upsertClasses(deps: WorkerDeps, signal: AbortSignal): Promise<{ updated: number }> {
  const { google } = deps.wallets;
  if (!google) return { updated: 0 };
  const until = performance.now() + workMs;
  let updated = 0;
  let failure: GoogleWalletError | undefined;
  for await (const job of deps.collections.classUpdates.find().sort({ _id: 1 })) {
    signal.throwIfAborted();
    if (performance.now() > until) break;
    try {
      await upsertClass(deps, google, job);
    } catch (error) {
      if (!(error instanceof GoogleWalletError)) throw error;
      if (!isFinalRefusal(error)) {
        failure = error;
        continue;
      }
      // The rebuild of the program has told the merchant.
      deps.log.error({ err: error, programId: job._id }, 'google refused the class of a program');
    }
    await deps.collections.classUpdates.deleteOne(job);
    updated += 1;
  }
  if (failure) throw failure;
  return { updated };
}

/**
 * Concurrent changes can reach Google in any order. If the program changed during an update, the class is written
 * again.
 */
async function upsertClass(deps: WorkerDeps, google: GoogleWallet, { _id, merchantId }: ClassUpdateRow): Promise<void> {
  for (let written = ''; ; ) {
    const program = await deps.collections.programs.findOne({ _id, merchantId });
    if (!program) return;
    const view = googleProgramView(deps.config, program);
    const wanted = JSON.stringify(view);
    if (wanted === written) return;
    await google.api.upsertClass(view);
    written = wanted;
  }
}
