// Runs an import whose rows are stored: creates the members chunk by chunk, then issues their passes and publishes
// their events, then publishes the result of the import. The events of created members are published even when the
// import fails or is cancelled. Each step first reads in the database what was done before, so a reset repeats nothing.
import { CancellationScope, continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ChunkProgress, ImportMembers } from '../../schemas/tables/workflows.js';
import { batches, imports, issueUntilDone, webhooks } from '../shared/activityOptions.js';
import { failureOf } from './runBatch.js';

const stepsPerRun = 60;

type Stage = 'creating' | 'publishing';

export async function importMembers(input: ImportMembers): Promise<{ phase: string }> {
  const { batchId, resume } = input;
  let steps = 0;
  /**
   * Runs a stage to its end. A long stage continues in a new run of the workflow, so that no history grows without
   * limit.
   */
  const runStage = async (stage: Stage, failure?: string): Promise<void> => {
    let from = resume?.stage === stage ? resume.from : 0;
    for (let over = false; !over; steps += 1) {
      if (steps >= stepsPerRun || workflowInfo().continueAsNewSuggested)
        await continueAsNew<typeof importMembers>({
          ...input,
          resume: { stage, from, ...(failure !== undefined && { failure }) },
        });
      const step =
        stage === 'creating'
          ? await imports.createImported({ batchId, from })
          : await batches.publishImported({ batchId, from });
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
    await webhooks.publishEvents({ leaseOwner: workflowInfo().workflowId, eventIds: [eventId] });
    if (unissued) {
      setCurrentDetails(`Ended: ${phase}. Still issuing passes that a wallet did not take.`);
      await issueUntilDone.issueImportedLate({ batchId });
    }
    setCurrentDetails(`Ended: ${phase}.`);
    return { phase };
  });
}

function detailsOf(stage: Stage, { total, done, created, completedMembers }: ChunkProgress): string {
  if (stage === 'creating') return `Creating: ${done} of ${total} rows, ${created} members.`;
  return `Issuing passes and publishing: ${completedMembers} of ${created} members.`;
}
