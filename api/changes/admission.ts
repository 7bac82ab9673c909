// Admission control: decides whether a change gets a workflow of its own. Operators find such a workflow easily, but it
// takes tens of times the processor time that the relay takes for the same event. A token bucket therefore bounds these
// workflows. While bulk work runs, a change whose answer does not wait for a push gets none; the relay processes its
// event.
import type { Deps } from '../../platform/deps.js';
import { bulkPhases } from '../../schemas/batches.js';
import { createTokenBucket } from './tokenBucket.js';

export interface Admission {
  /**
   * True when the change may start a workflow; this takes a token. False when the relay has to process the event.
   * `awaited` is true when the answer waits for a push.
   */
  admitWorkflow(awaited: boolean): boolean;
}

const lookEveryMs = 500;

export function createAdmission(
  { collections, config, log }: Pick<Deps, 'collections' | 'config' | 'log'>,
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
    admitWorkflow(awaited) {
      lookForBulk();
      return (awaited || !bulkRuns) && takeToken(awaited);
    },
  };
}
