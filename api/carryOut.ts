// From a committed change to its effects. Something to push: the answer waits for the wallets, within bounds. Nothing to push:
// the workflow is started beside the answer. No workflow to be had: the relay will find the event.
import type { Done, GestureFacts } from '../activities/changeMember.js';
import { graceMs } from '../activities/newEvent.js';
import type { StartWorkflow } from '../activities/starter.js';
import type { EventType } from '../schemas/events.js';
import type { PassUpdate } from '../schemas/passUpdate.js';
import type { ApiDeps } from './apiDeps.js';

export interface Effect {
  workflowId: string;
  eventId: string;
  eventType: EventType;
  merchantId: string;
  memberId: string;
  programId: string;
  /** For the operators' list; no personal data. */
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

/** Whether a change gets a workflow of its own; `awaited` is true when the answer has to wait for it. */
export function plan(deps: ApiDeps): { own: (awaited: boolean) => boolean; confirmable: boolean } {
  const confirmable = deps.starter.available();
  return { own: (awaited) => confirmable && deps.room.takeWorkflow(awaited), confirmable };
}

/** Starts without waiting; a start that is lost leaves the event to the relay. */
export function startBeside(deps: ApiDeps, effect: Effect): void {
  deps.crashPoint('before-workflow-start');
  deps.starter
    .start(workflowOf(effect), graceMs)
    .then(() => deps.crashPoint('after-workflow-start'))
    .catch((error: unknown) => deps.log.debug({ err: error, workflowId: effect.workflowId }, 'left to the relay'));
}

export async function tellWallets(deps: ApiDeps, effect: Effect): Promise<PassUpdate | null> {
  deps.crashPoint('before-workflow-start');
  const passUpdate = await deps.starter.passUpdate(workflowOf(effect), deps.config.PASS_UPDATE_WAIT_MS);
  deps.crashPoint('after-workflow-start');
  return passUpdate;
}

/** What the answer says of the wallets, after seeing to it that they are told. */
export async function settle(
  deps: ApiDeps,
  { done, effect }: { done: Done; effect: Effect },
): Promise<PassUpdate | null> {
  const own = done.holder !== null;
  if (done.passUpdate === undefined) return own ? tellWallets(deps, effect) : null;
  if (own) startBeside(deps, effect);
  return done.passUpdate;
}

export function summaryOf(verb: string, { memberCode, previous, current }: GestureFacts): string {
  return `${verb} ${memberCode}: ${previous} to ${current}`;
}
