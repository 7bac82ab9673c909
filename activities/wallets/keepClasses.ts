// A program's class at Google follows the program: whoever changes a program leaves an event for it in the same transaction,
// which the relay carries out. Nobody else is told of it.
import type { EventRow } from '../../schemas/collections.js';
import { newId } from '../../schemas/ids.js';
import type { Program } from '../../schemas/programs.js';
import type { Store } from '../deps.js';
import { GoogleWalletError } from '../google/googleWalletError.js';
import { readProgram } from '../programs.js';
import type { WorkerDeps } from '../workerDeps.js';
import { googleProgramOf } from './faces.js';

export function programChanged(store: Pick<Store, 'now'>, program: Program): EventRow {
  const now = store.now();
  return {
    _id: newId(),
    merchantId: program.merchantId,
    type: 'pass.updated',
    programId: program._id,
    occurredAt: now,
    data: { programId: program._id },
    wallet: 'class',
    silent: true,
    state: 'new',
    holder: '',
    dueAt: now,
    // The one that there always is: an operator's command does not know how many the workers have.
    shard: 0,
  };
}

/** Answers the events whose class Google has to be asked for again, each with its error. */
export async function keepClasses(deps: WorkerDeps, events: readonly EventRow[]): Promise<Map<string, Error>> {
  const failed = new Map<string, Error>();
  for (const event of events) {
    try {
      await keepClass(deps, event);
    } catch (error) {
      if (!(error instanceof GoogleWalletError)) throw error;
      if (error.kind === 'transient') failed.set(event._id, error);
      // The same again would fail again; enrolling says so, too.
      else deps.log.error({ err: error, programId: event.programId }, 'google refused the class of a program');
    }
  }
  return failed;
}

/** Two changes of one moment reach Google in any order: whoever finds that the program moved on meanwhile writes again. */
async function keepClass(deps: WorkerDeps, { merchantId, programId = '' }: EventRow): Promise<void> {
  const { google } = deps.wallets;
  if (!google || deps.walletModes.google === 'stub') return;
  const wanted = async () => googleProgramOf(deps.config, await readProgram(deps, { merchantId, programId }));
  let program = await wanted();
  for (let kept = ''; kept !== JSON.stringify(program); program = await wanted()) {
    await google.wallet.upsertClass(program);
    kept = JSON.stringify(program);
  }
}
