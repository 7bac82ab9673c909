// Admission control: decides whether a change gets a workflow of its own. Operators find such a workflow easily, but it
// takes tens of times the processor time that the relay takes for the same event. A token bucket therefore bounds these
// workflows. While workers are behind with workflows or bulk work runs, only a change whose answer waits for a push
// gets one; when workflow tasks wait for more than 10 s, none does. The relay processes the events of the others
// (docs/decisions/workflows-while-there-is-capacity.md).
import type { Deps } from '../../platform/deps.js';
import type { WorkflowClient } from '../../platform/temporal/workflowClient.js';
import { bulkPhases } from '../../schemas/batches/batches.schema.js';

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
    collections.batches
      .findOne({ phase: { $in: [...bulkPhases] }, kind: { $ne: 'cards.mail' } }, { projection: { _id: 1 } })
      .then(
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

interface Bucket {
  tokens: number;
  filledAt: number;
}

/**
 * Gives `perSecond` tokens on average and holds at most two seconds' worth. A change whose answer waits for its
 * workflow (`awaited`) needs one of these tokens. Any other change also needs a token of `demand`, which holds at most
 * half a second's worth (at least 1) and counts every change. Of a burst after a pause, half a second's worth of these
 * changes therefore gets workflows; while more changes arrive than tokens, none of them does. Returns whether a token
 * was taken.
 */
export function createTokenBucket(
  perSecond: number,
  now: () => number = () => performance.now(),
): (awaited: boolean) => boolean {
  const most = { tokens: perSecond * 2, demand: Math.max(perSecond / 2, 1) };
  const supply: Bucket = { tokens: most.tokens, filledAt: now() };
  /**
   * Every change lowers it, even one that gets no workflow; only changes that are not awaited need a whole token of it.
   * Below zero, more changes arrive than tokens.
   */
  const demand: Bucket = { tokens: most.demand, filledAt: now() };

  function fill(bucket: Bucket, upTo: number): void {
    const at = now();
    bucket.tokens = Math.min(bucket.tokens + ((at - bucket.filledAt) * perSecond) / 1_000, upTo);
    bucket.filledAt = at;
  }

  return function takeToken(awaited) {
    fill(supply, most.tokens);
    fill(demand, most.demand);
    const taken = supply.tokens >= 1 && (awaited || demand.tokens >= 1);
    demand.tokens = Math.max(demand.tokens - 1, -most.tokens);
    if (taken) supply.tokens -= 1;
    return taken;
  };
}
