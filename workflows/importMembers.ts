// An import from the moment its file arrives: members are created chunk after chunk, then their passes are issued and their
// events published, then the merchant is told how it ended. What was created is always told, however the import ends. Every
// step finds in the database what it did before, so a reset repeats nothing.
import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  patched,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { type ImportMembers, type ImportStep, uploadedSignal } from '../schemas/workflows.js';
import { batches, imports, lookNow, webhooks } from './activityOptions.js';
import { failureOf } from './throughTargets.js';

const uploaded = defineSignal(uploadedSignal);

/** A signal that was lost is made up for this often. */
const lookAgainAfter = '15s';
const stepsARun = 60;

type Stage = 'creating' | 'publishing';

export async function importMembers(input: ImportMembers): Promise<{ phase: string }> {
  const { batchId, resume } = input;
  if (!resume && !(await fileCame(batchId))) return { phase: 'discarded' };

  let steps = 0;
  /** Runs a stage to its end; a long one goes on in a new run, so that no history grows without bound. */
  const runStage = async (stage: Stage, failure?: string): Promise<void> => {
    let from = resume?.stage === stage ? resume.from : 0;
    for (let over = false; !over; steps += 1) {
      if (steps >= stepsARun || workflowInfo().continueAsNewSuggested)
        await continueAsNew<typeof importMembers>({
          ...input,
          resume: { stage, from, ...(failure !== undefined && { failure }) },
        });
      const step =
        stage === 'creating'
          ? await imports.createImported({ batchId, from })
          : await batches.carryImported({ batchId, from });
      setCurrentDetails(detailsOf(stage, step));
      from = step.next;
      over = step.over;
    }
  };

  const failure = resume?.stage === 'publishing' ? resume.failure : await failureOf(() => runStage('creating'));
  return CancellationScope.nonCancellable(async () => {
    await runStage('publishing', failure);
    const { phase, eventId, unissued } = await batches.finishImport({
      batchId,
      ...(failure !== undefined && { failure }),
    });
    await webhooks.publishEvents({ holder: workflowInfo().workflowId, eventIds: [eventId] });
    if (unissued) {
      setCurrentDetails(`Ended: ${phase}. Still issuing passes that a wallet did not take.`);
      await batches.issueImportedLate({ batchId });
    }
    setCurrentDetails(`Ended: ${phase}.`);
    return { phase };
  });
}

/** False when the upload was refused, or was given up by an API that died. */
async function fileCame(batchId: string): Promise<boolean> {
  let told = false;
  setHandler(uploaded, () => {
    told = true;
  });
  setCurrentDetails('Waiting for the file.');
  for (;;) {
    await condition(() => told, lookAgainAfter);
    const look = patched('look at once') ? lookNow : imports;
    const { state } = await look.uploadState({ batchId });
    if (state === 'ready') return true;
    if (state === 'gone') {
      await imports.discardRows({ batchId });
      setCurrentDetails('The file was refused or cut off; nothing was created.');
      return false;
    }
    told = false;
  }
}

function detailsOf(stage: Stage, { total, done, created, carried }: ImportStep): string {
  if (stage === 'creating') return `Creating: ${done} of ${total} rows, ${created} members.`;
  return `Issuing passes and publishing: ${carried} of ${created} members.`;
}
