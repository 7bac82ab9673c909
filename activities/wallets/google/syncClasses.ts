// Updates a program's class at Google after the program changed. The transaction that changes a program also writes an
// internal event, which the relay processes. Subscribers and the feed do not get this event.

import type { EventRow } from '../../../schemas/collections.js';
import { readProgram } from '../../programs/readProgram.js';
import type { WorkerDeps } from '../../workerDeps.js';
import { googleProgramView } from '../passViews.js';
import { GoogleWalletError } from './googleWalletError.js';

/** Returns the events whose class has to be tried again, each with its error. */
export async function syncClasses(deps: WorkerDeps, events: readonly EventRow[]): Promise<Map<string, Error>> {
  const failed = new Map<string, Error>();
  for (const event of events) {
    try {
      await syncClass(deps, event);
    } catch (error) {
      if (!(error instanceof GoogleWalletError)) throw error;
      if (error.kind === 'transient') failed.set(event._id, error);
      // A retry would fail again. The next enrollment in the program reports the same error.
      else deps.log.error({ err: error, programId: event.programId }, 'google refused the class of a program');
    }
  }
  return failed;
}

/**
 * Two concurrent changes can reach Google in any order: if the program has changed during an update, the class is
 * written again.
 */
async function syncClass(deps: WorkerDeps, { merchantId, programId = '' }: EventRow): Promise<void> {
  const { google } = deps.wallets;
  if (!google || deps.walletModes.google === 'stub') return;
  const wanted = async () => googleProgramView(deps.config, await readProgram(deps, { merchantId, programId }));
  let program = await wanted();
  for (let kept = ''; kept !== JSON.stringify(program); program = await wanted()) {
    await google.api.upsertClass(program);
    kept = JSON.stringify(program);
  }
}
