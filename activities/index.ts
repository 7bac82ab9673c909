// The activities as Temporal sees them: one object in, one object out, each a plain function of (deps, input). What takes
// long beats its heart, so that a dead worker is noticed within seconds.
import { Context } from '@temporalio/activity';
import type { PushedPasses, Relay } from '../schemas/workflows.js';
import type { Claim } from './claimEvents.js';
import { relayEvents } from './relayEvents.js';
import { type IssuePassesFor, issueApplePasses, issueGooglePasses } from './wallets/issuePasses.js';
import { pushLate, pushPasses } from './wallets/pushPasses.js';
import { repushStale } from './wallets/repush.js';
import { postWebhook } from './webhooks/postWebhook.js';
import { publishEvents } from './webhooks/publishEvents.js';
import type { WorkerDeps } from './workerDeps.js';

const heartbeatMs = 1_000;
const relayRoundMs = 300_000;

async function beating<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(timer);
  }
}

export function createActivities(deps: WorkerDeps) {
  return {
    pushPasses: (claim: Claim): Promise<PushedPasses> => pushPasses(deps, claim),
    issueApplePasses: (input: IssuePassesFor) => issueApplePasses(deps, input),
    issueGooglePasses: (input: IssuePassesFor) => issueGooglePasses(deps, input),
    pushLate: (claim: Claim) => pushLate(deps, claim),
    repushStale: () => repushStale(deps),
    publishEvents: (claim: Claim) => beating(() => publishEvents(deps, claim)),
    postWebhook: ({ deliveryId, attempts }: { deliveryId: string; attempts: number }) =>
      beating((signal) => postWebhook(deps, { deliveryId, last: Context.current().info.attempt >= attempts, signal })),
    relayEvents: ({ shard }: Relay) => {
      const { info, cancellationSignal } = Context.current();
      return relayEvents(deps, {
        shard,
        attemptId: `${info.workflowExecution?.runId ?? ''}.${info.activityId}.${info.attempt}`,
        signal: AbortSignal.any([cancellationSignal, deps.stopping]),
        heartbeat: (relayed) => Context.current().heartbeat(relayed),
        forMs: relayRoundMs,
      });
    },
  };
}

export type Activities = ReturnType<typeof createActivities>;
