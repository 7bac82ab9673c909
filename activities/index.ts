// The activities as Temporal sees them: one object in, one object out, each a plain function of (deps, input). What takes
// long beats its heart, so that a dead worker is noticed within seconds.
import { setMaxListeners } from 'node:events';
import { Context } from '@temporalio/activity';
import type { PushedPasses, Recount, Relay, SavesCursor } from '../schemas/workflows.js';
import { drawUpCampaign, drawUpRebuild, sendMessages } from './campaigns.js';
import type { Claim } from './claimEvents.js';
import { type FinishBatch, finishBatch } from './finishBatch.js';
import { carryImported } from './imports/carryImported.js';
import { createImported } from './imports/createImported.js';
import { type FinishImport, finishImport, issueImportedLate } from './imports/finishImport.js';
import { discardRows, uploadState } from './imports/openImport.js';
import { recountMerchants } from './recount.js';
import { relayEvents } from './relayEvents.js';
import { reviveBatches } from './reviveBatches.js';
import { type IssuePassesFor, issueApplePasses, issueGooglePasses, issueLate } from './wallets/issuePasses.js';
import { pushLate, pushPasses } from './wallets/pushPasses.js';
import { compareSaves, settleSaves } from './wallets/reconcileSaves.js';
import { repushStale } from './wallets/repush.js';
import { postWebhook } from './webhooks/postWebhook.js';
import { publishEvents } from './webhooks/publishEvents.js';
import { drawUpReplay, replayEvents } from './webhooks/replayRange.js';
import type { WorkerDeps } from './workerDeps.js';

const heartbeatMs = 1_000;
const relayRoundMs = 300_000;

interface ImportStage {
  batchId: string;
  from: number;
}

interface Beating {
  signal: AbortSignal;
  /** What the attempt before this one kept. */
  kept: unknown;
  keep: (details: unknown) => void;
}

async function beating<T>(work: (beating: Beating) => Promise<T>): Promise<T> {
  const context = Context.current();
  const { heartbeatDetails, isLocal } = context.info;
  let details: unknown = heartbeatDetails;
  const keep = (kept: unknown) => {
    details = kept;
    context.heartbeat(details);
  };
  // Each request in flight listens for the end.
  setMaxListeners(0, context.cancellationSignal);
  const timer = isLocal ? undefined : setInterval(() => context.heartbeat(details), heartbeatMs);
  try {
    return await work({ signal: context.cancellationSignal, kept: heartbeatDetails, keep });
  } finally {
    clearInterval(timer);
  }
}

export function createActivities(deps: WorkerDeps) {
  return {
    pushPasses: (claim: Claim): Promise<PushedPasses> => pushPasses(deps, claim),
    issueApplePasses: (input: IssuePassesFor) => beating(() => issueApplePasses(deps, input)),
    issueGooglePasses: (input: IssuePassesFor) => beating(() => issueGooglePasses(deps, input)),
    issueLate: (input: { memberIds: string[] }) => beating(() => issueLate(deps, input)),
    pushLate: (claim: Claim) => beating(() => pushLate(deps, claim)),
    compareSaves: (input: { cursor?: SavesCursor }) => beating(() => compareSaves(deps, input)),
    settleSaves: (input: { memberIds: string[] }) => beating(() => settleSaves(deps, input)),
    repushStale: () => repushStale(deps),
    reviveBatches: () => reviveBatches(deps),
    publishEvents: (claim: Claim) => beating(({ signal }) => publishEvents(deps, { ...claim, callOff: signal })),
    postWebhook: ({ deliveryId, attempts }: { deliveryId: string; attempts: number }) =>
      beating(({ signal, kept, keep }) => {
        const before = typeof kept === 'number' ? kept : undefined;
        const { workflowExecution, attempt } = Context.current().info;
        const carrier = { run: workflowExecution?.runId ?? '', attempt };
        return postWebhook(deps, { deliveryId, attempts, carrier, before, remember: keep, signal });
      }),
    recountMerchants: (input: Recount) => beating(() => recountMerchants(deps, input)),
    relayEvents: ({ shard }: Relay) => {
      const { info, cancellationSignal } = Context.current();
      return relayEvents(deps, {
        shard,
        attemptId: `${info.workflowExecution?.runId ?? ''}.${info.activityId}.${info.attempt}`,
        signal: AbortSignal.any([cancellationSignal, deps.stopping]),
        callOff: cancellationSignal,
        heartbeat: (relayed) => Context.current().heartbeat(relayed),
        forMs: relayRoundMs,
      });
    },
    uploadState: ({ batchId }: { batchId: string }) => uploadState(deps, { batchId }),
    discardRows: ({ batchId }: { batchId: string }) => beating(() => discardRows(deps, { batchId })),
    createImported: (stage: ImportStage) =>
      beating(({ signal }) => createImported(deps, { ...stage, callOff: signal, stopping: deps.stopping })),
    carryImported: (stage: ImportStage) =>
      beating(({ signal }) => carryImported(deps, { ...stage, callOff: signal, stopping: deps.stopping })),
    drawUpCampaign: ({ batchId }: { batchId: string }) => beating(() => drawUpCampaign(deps, { batchId })),
    drawUpRebuild: ({ batchId }: { batchId: string }) => beating(() => drawUpRebuild(deps, { batchId })),
    sendMessages: (stage: ImportStage) =>
      beating(({ signal }) => sendMessages(deps, { ...stage, callOff: signal, stopping: deps.stopping })),
    drawUpReplay: ({ batchId }: { batchId: string }) => beating(() => drawUpReplay(deps, { batchId })),
    replayEvents: (stage: ImportStage) =>
      beating(({ signal }) => replayEvents(deps, { ...stage, callOff: signal, stopping: deps.stopping })),
    finishBatch: (input: FinishBatch) => finishBatch(deps, input),
    finishImport: (input: FinishImport) => finishImport(deps, input),
    issueImportedLate: ({ batchId }: { batchId: string }) =>
      beating(({ signal }) => issueImportedLate(deps, { batchId, callOff: signal })),
  };
}

export type Activities = ReturnType<typeof createActivities>;
