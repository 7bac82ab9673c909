// Dispatches the effects of a committed change. When a wallet has to be notified, the answer waits for the push, for at
// most PASS_UPDATE_WAIT_MS. Otherwise the workflow starts in the background. A change without a workflow leaves its
// event to the relay.

import { startGraceMs } from '../../activities/events/newEvent.rules.js';
import type { ChangeFacts, Done } from '../../activities/members/change.schema.js';
import type { StartWorkflow } from '../../platform/temporal/workflowClient.js';
import type { EventType } from '../../schemas/events/events.schema.js';
import type { PassUpdate } from '../../schemas/shared/passUpdate.schema.js';
import type { WorkflowName } from '../../schemas/tables/workflows.js';
import type { ApiDeps } from '../http/apiDeps.js';

/** By which operators recognise the workflow of a change in Temporal. */
export interface WorkflowLabels {
  eventType: EventType;
  /** One line for operators in Temporal's list of workflows; contains no personal data. */
  summary: string;
}

interface ChangeWorkflow extends WorkflowLabels {
  workflowId: string;
  eventId: string;
  merchantId: string;
  memberId: string;
  programId: string;
}

function startOf({ workflowId, summary, eventId, eventType, merchantId, memberId, programId }: ChangeWorkflow) {
  return {
    name: 'announceChange',
    workflowId,
    input: { merchantId, eventIds: [eventId] },
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
  } as const satisfies StartWorkflow<'announceChange'>;
}

/**
 * Checks once whether Temporal is available. `chooseLeaseOwner` returns the id of the change's workflow, or null when
 * admission control leaves the change to the relay; `awaited` is true when the answer has to wait for that workflow. A
 * repeated transaction gets the same answer and takes no second token, unless `awaited` has changed.
 */
export function planDispatch(
  deps: { workflowClient: Pick<ApiDeps['workflowClient'], 'available'>; admission: ApiDeps['admission'] },
  workflowIdOf: (subjectId: string) => string,
) {
  const temporalAvailable = deps.workflowClient.available();
  const admitted = new Map<boolean, boolean>();
  return {
    temporalAvailable,
    chooseLeaseOwner(subjectId: string, awaited = false): string | null {
      const admits = admitted.get(awaited) ?? (temporalAvailable && deps.admission.admit(awaited));
      admitted.set(awaited, admits);
      return admits ? workflowIdOf(subjectId) : null;
    },
  };
}

/** Returns false when the start failed; the relay processes the event then. */
async function start<N extends WorkflowName>(deps: ApiDeps, workflow: StartWorkflow<N>): Promise<boolean> {
  deps.crashPoint('before-workflow-start');
  try {
    await deps.workflowClient.start(workflow, startGraceMs);
    deps.crashPoint('after-workflow-start');
    return true;
  } catch (error) {
    deps.log.debug({ err: error, workflowId: workflow.workflowId }, 'left to the relay');
    return false;
  }
}

/** Starts the workflow without waiting for it. */
export function startInBackground<N extends WorkflowName>(deps: ApiDeps, workflow: StartWorkflow<N>): void {
  void start(deps, workflow);
}

export async function pushAndWait(deps: ApiDeps, workflow: ChangeWorkflow): Promise<PassUpdate | null> {
  const left = new AbortController();
  void start(deps, startOf(workflow)).then((isStarted) => {
    if (!isStarted) left.abort();
  });
  return deps.pushWaits.resultOf(workflow.eventId, deps.config.PASS_UPDATE_WAIT_MS, left.signal);
}

/**
 * Starts the effects of a change and returns the pass update for the answer: null while the result of the push is not
 * known. Waits only for a push.
 */
export async function dispatch(deps: ApiDeps, done: Done, labels: WorkflowLabels): Promise<PassUpdate | null> {
  const { leaseOwner: workflowId, eventId, member, passUpdate } = done;
  if (workflowId === null) return passUpdate ?? null;
  const { _id: memberId, merchantId, programId } = member;
  const workflow = { ...labels, workflowId, eventId, merchantId, memberId, programId };
  if (passUpdate === undefined) return pushAndWait(deps, workflow);
  startInBackground(deps, startOf(workflow));
  return passUpdate;
}

export function summaryOf(verb: string, memberId: string, { previous, current }: ChangeFacts): string {
  return `${verb} ${memberId}: ${previous} to ${current}`;
}
