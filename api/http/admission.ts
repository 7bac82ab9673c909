// Admission control: decides whether a change gets a workflow of its own. Operators find such a workflow easily, but it
// takes tens of times the processor time that the relay takes for the same event. A token bucket therefore bounds these
// workflows. While workers are behind with workflows or bulk work runs, only a change whose answer waits for a push
// gets one; when workflow tasks wait for more than 10 s, none does. The relay processes the events of the others
// (docs/decisions/workflows-while-there-is-capacity.md).
import type { Deps } from '../../platform/deps.js';
import type { WorkflowClient } from '../../platform/temporal/workflowClient.js';
import { bulkPhases } from '../../schemas/batches/batches.schema.js';
import { createTokenBucket } from './tokenBucket.rules.js';

type AdmissionDeps = Pick<Deps, 'collections' | 'config' | 'log'> & {
  workflowClient: Pick<WorkflowClient, 'backlogMs'>;
};

export interface Admission {
  /**
   * True when the change may start a workflow; this takes a token. False when the relay has to process the event.
   * `awaited` is true when the answer waits for a push.
   */
  admit(awaited: boolean): boolean;
}

const lookEveryMs = 500;
/** How long workflow tasks may wait while a change still gets a workflow; longer when its answer waits for a push. */
const maxBacklogMs = { awaited: 10_000, others: 1_000 };

export function createAdmission(
  { collections, config, log, workflowClient }: AdmissionDeps,
  clock: () => number = () => performance.now(),
): Admission {
  const takeToken = createTokenBucket(config.CHANGE_WORKFLOWS_PER_SECOND, clock);
  let lookedAt = Number.NEGATIVE_INFINITY;
  let bulkRuns = false;

  function lookForBulk(): void {
    if (clock() - lookedAt < lookEveryMs) return;
    lookedAt = clock();
    collections.batches.findOne({ phase: { $in: [...bulkPhases] } }, { projection: { _id: 1 } }).then(
      (batch) => {
        bulkRuns = batch !== null;
      },
      (error: unknown) => log.debug({ err: error }, 'the running batches could not be read'),
    );
  }

  return {
    admit(awaited) {
      lookForBulk();
      const isBehind = workflowClient.backlogMs() > (awaited ? maxBacklogMs.awaited : maxBacklogMs.others);
      return !isBehind && (awaited || !bulkRuns) && takeToken(awaited);
    },
  };
}
