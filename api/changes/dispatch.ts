// Dispatches the effects of a committed change. When a wallet has to be notified, the answer waits for the push, for at
// most PASS_UPDATE_WAIT_MS. Otherwise the workflow starts in the background. A change without a workflow leaves its
// event to the relay.
import type { ChangeFacts, Done } from '../../activities/members/changeTypes.js';
import { startGraceMs } from '../../activities/outbox/newEvent.js';
import type { StartWorkflow } from '../../platform/temporal/workflowClient.js';
import type { EventType } from '../../schemas/events.js';
import type { PassUpdate } from '../../schemas/passUpdate.js';
import type { ApiDeps } from '../apiDeps.js';

export interface Effect {
  workflowId: string;
  eventId: string;
  eventType: EventType;
  merchantId: string;
  memberId: string;
  programId: string;
  /** One line for operators in Temporal's list of workflows; contains no personal data. */
  summary: string;
  push: boolean;
}

function workflowOf({
  workflowId,
  eventId,
  eventType,
  merchantId,
  memberId,
  programId,
  summary,
  push,
}: Effect): StartWorkflow<'publishChange'> {
  return {
    name: 'publishChange',
    workflowId,
    input: { merchantId, eventIds: [eventId], push },
    summary,
    searchAttributes: {
      MerchantId: merchantId,
      MemberId: memberId,
      ProgramId: programId,
      EventId: eventId,
      EventType: eventType,
    },
    priority: 2,
    fairnessKey: merchantId,
  };
}

/**
 * Checks once whether Temporal is available. `admits` says whether a change gets a workflow of its own; `awaited` is
 * true when the answer has to wait for that workflow. A transaction that is repeated gets the same answer and takes no
 * second token.
 */
export function planDispatch(deps: ApiDeps): { admits: (awaited: boolean) => boolean; temporalAvailable: boolean } {
  const temporalAvailable = deps.workflowClient.available();
  const admitted = new Map<boolean, boolean>();
  return {
    admits(awaited) {
      const known = admitted.get(awaited) ?? (temporalAvailable && deps.admission.admitWorkflow(awaited));
      admitted.set(awaited, known);
      return known;
    },
    temporalAvailable,
  };
}

/** Starts the workflow without waiting for it. If the start fails, the relay processes the event. */
export function startInBackground(deps: ApiDeps, effect: Effect): void {
  deps.crashPoint('before-workflow-start');
  deps.workflowClient
    .start(workflowOf(effect), startGraceMs)
    .then(() => deps.crashPoint('after-workflow-start'))
    .catch((error: unknown) => deps.log.debug({ err: error, workflowId: effect.workflowId }, 'left to the relay'));
}

export async function pushAndWait(deps: ApiDeps, effect: Effect): Promise<PassUpdate | null> {
  deps.crashPoint('before-workflow-start');
  const passUpdate = await deps.workflowClient.awaitPassUpdate(workflowOf(effect), deps.config.PASS_UPDATE_WAIT_MS);
  deps.crashPoint('after-workflow-start');
  return passUpdate;
}

/**
 * Starts the effects of a change and returns the pass update for the answer: null while the result of the push is not
 * known.
 */
export async function dispatch(
  deps: ApiDeps,
  { done, effect }: { done: Done; effect: Effect },
): Promise<PassUpdate | null> {
  const hasOwnWorkflow = done.leaseOwner !== null;
  if (done.passUpdate === undefined) return hasOwnWorkflow ? pushAndWait(deps, effect) : null;
  if (hasOwnWorkflow) startInBackground(deps, effect);
  return done.passUpdate;
}

export function summaryOf(verb: string, { memberCode, previous, current }: ChangeFacts): string {
  return `${verb} ${memberCode}: ${previous} to ${current}`;
}
