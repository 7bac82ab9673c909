// Updates the classes of changed programs at Google. The transaction that changes a program also writes a row of
// `classUpdates`; the row is removed when Google has accepted the class. A schedule starts the workflow of this job.
import type { ClassUpdateRow } from '../../../schemas/collections.js';
import type { WorkerDeps } from '../../workerDeps.js';
import { googleProgramView } from '../passViews.js';
import type { GoogleWallet } from '../wallets.js';
import { GoogleWalletError } from './googleWalletError.js';

/** The next run of the workflow finds the other rows. */
const batchSize = 20;

/** Throws GoogleWalletError when a class has to be tried again, after all other classes were tried. */
export async function upsertClasses(deps: WorkerDeps, signal: AbortSignal): Promise<{ updated: number }> {
  const { google } = deps.wallets;
  if (!google) return { updated: 0 };
  const jobs = await deps.collections.classUpdates.find().sort({ _id: 1 }).limit(batchSize).toArray();
  let failure: GoogleWalletError | undefined;
  for (const job of jobs) {
    signal.throwIfAborted();
    try {
      await upsertClass(deps, google, job);
    } catch (error) {
      if (!(error instanceof GoogleWalletError)) throw error;
      if (error.kind === 'transient') {
        failure = error;
        continue;
      }
      // A retry would fail again. The next enrollment in the program reports the same error.
      deps.log.error({ err: error, programId: job._id }, 'google refused the class of a program');
    }
    await deps.collections.classUpdates.deleteOne(job);
  }
  if (failure) throw failure;
  return { updated: jobs.length };
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
