// Registers the activities with Temporal. Each takes one object and returns one, and calls a plain function of (deps,
// input). Activities that can take long send a heartbeat every second, so that Temporal detects a dead worker within
// seconds.
import { setMaxListeners } from 'node:events';
import { Context } from '@temporalio/activity';
import type {
  ChunkProgress,
  DeliverWebhook,
  ListProgress,
  PushedPasses,
  Recount,
  Relay,
  SavesCursor,
  SendAutomaticMessages,
} from '../schemas/tables/workflows.js';
import { runAutomaticRule } from './batches/automaticMessages.activity.js';
import { sendMessages, snapshotCampaign, snapshotRebuild } from './batches/campaigns.activity.js';
import { mailCards, snapshotCreated } from './batches/cardMails.activity.js';
import { cleanUpBatches } from './batches/cleanUpBatches.activity.js';
import { type FinishBatch, finishBatch } from './batches/finishBatch.activity.js';
import { createImported } from './batches/imports/createImported.activity.js';
import {
  type FinishImport,
  finishImport,
  issueImportedLate,
  type LateProgress,
} from './batches/imports/finishImport.activity.js';
import { publishImported } from './batches/imports/publishImported.activity.js';
import { replayEvents, snapshotReplay } from './batches/replays.activity.js';
import { reviveBatches } from './batches/reviveBatches.activity.js';
import type { RunChunksInput } from './batches/runChunks.effect.js';
import type { ListTargets } from './batches/targets.writes.js';
import type { Lease } from './events/leases.writes.js';
import { type PostMail, postMail } from './mail/postMail.activity.js';
import { reviveMails } from './mail/reviveMails.activity.js';
import { recountMerchants } from './members/recount.activity.js';
import { endErasure, removeTraces } from './persons/removeTraces.activity.js';
import { reviveErasures } from './persons/reviveErasures.activity.js';
import { type ExpireLots, expireLots } from './points/expireLots.activity.js';
import { type GiveLots, giveLots } from './points/giveLots.activity.js';
import { reportRemovals } from './wallets/apple/reportRemovals.activity.js';
import { repushStale } from './wallets/apple/repush.activity.js';
import { followObjects } from './wallets/google/followObjects.activity.js';
import { compareSaves, correctSaves } from './wallets/google/reconcileSaves.activity.js';
import { upsertClasses } from './wallets/google/upsertClasses.activity.js';
import { type IssuePassesFor, issueApplePasses, issueGooglePasses, issueLate } from './wallets/issuePasses.activity.js';
import { pushLate, pushPasses } from './wallets/pushPasses.activity.js';
import { reviveIssues, revivePushes } from './wallets/revivePasses.activity.js';
import { postWebhook } from './webhooks/postWebhook.activity.js';
import { publishEvents, publishNow } from './webhooks/publishEvents.activity.js';
import { relayEvents } from './webhooks/relayEvents.activity.js';
import { reviveDeliveries } from './webhooks/reviveDeliveries.activity.js';
import type { WorkerDeps } from './workerDeps.js';

const heartbeatMs = 1_000;
/** After this many attempts, the comparison with Google skips what failed. */
const googleAttempts = 5;
/** A loop over due work ends after this long, so that its history stays short, or when nothing was due. */
const roundMs = 300_000;
const idleEndMs = 30_000;

interface HeartbeatContext {
  signal: AbortSignal;
  /** The heartbeat details that the previous attempt saved. */
  lastDetails: unknown;
  saveDetails: (details: unknown) => void;
}

async function withHeartbeat<T>(work: (context: HeartbeatContext) => Promise<T>): Promise<T> {
  const context = Context.current();
  const { heartbeatDetails, isLocal } = context.info;
  let details: unknown = heartbeatDetails;
  const saveDetails = (lastDetails: unknown) => {
    details = lastDetails;
    context.heartbeat(details);
  };
  // Every request in flight adds a listener to the signal; by default Node warns above 10 listeners.
  setMaxListeners(0, context.cancellationSignal);
  const timer = isLocal ? undefined : setInterval(() => context.heartbeat(details), heartbeatMs);
  try {
    return await work({ signal: context.cancellationSignal, lastDetails: heartbeatDetails, saveDetails });
  } finally {
    clearInterval(timer);
  }
}

const atMoment = (at: number | undefined) => (at === undefined ? {} : { at: new Date(at) });

export function createActivities(deps: WorkerDeps) {
  const { shutdownSignal } = deps;
  /** Aborted as well when the worker stops. */
  const orShutdown = (signal: AbortSignal) => AbortSignal.any([signal, shutdownSignal]);
  const runsChunks =
    (run: (deps: WorkerDeps, input: RunChunksInput) => Promise<ChunkProgress>) =>
    (from: { batchId: string; from: number }) =>
      withHeartbeat(({ signal }) => run(deps, { ...from, cancellationSignal: signal, shutdownSignal }));
  const listsTargets =
    (list: (deps: WorkerDeps, input: ListTargets) => Promise<ListProgress>) =>
    ({ batchId }: { batchId: string }) =>
      withHeartbeat(({ signal }) => list(deps, { batchId, cancellationSignal: signal, shutdownSignal }));
  return {
    pushPasses: (lease: Lease): Promise<PushedPasses> => pushPasses(deps, lease),
    issueApplePasses: (input: IssuePassesFor) => withHeartbeat(() => issueApplePasses(deps, input)),
    issueGooglePasses: (input: IssuePassesFor) => withHeartbeat(() => issueGooglePasses(deps, input)),
    issueLate: (input: { memberIds: string[] }) => withHeartbeat(() => issueLate(deps, input)),
    pushLate: (lease: Lease) => withHeartbeat(() => pushLate(deps, lease)),
    compareSaves: (input: { cursor?: SavesCursor }) =>
      withHeartbeat(() => compareSaves(deps, { ...input, giveUp: Context.current().info.attempt >= googleAttempts })),
    followObjects: () =>
      withHeartbeat(({ signal }) =>
        followObjects(deps, {
          signal: orShutdown(signal),
          forMs: roundMs,
          idleEndMs,
        }),
      ),
    correctSaves: (input: { memberIds: string[] }) =>
      withHeartbeat(() => correctSaves(deps, { ...input, giveUp: Context.current().info.attempt >= googleAttempts })),
    upsertClasses: () => withHeartbeat(({ signal }) => upsertClasses(deps, signal)),
    repushStale: async () => {
      const [pushed, reported] = await Promise.allSettled([repushStale(deps), reportRemovals(deps)]);
      if (pushed.status === 'rejected') throw pushed.reason;
      if (reported.status === 'rejected') throw reported.reason;
      return pushed.value;
    },
    reviveDeliveries: () => reviveDeliveries(deps),
    revivePushes: () => revivePushes(deps),
    reviveIssues: () => reviveIssues(deps),
    reviveMails: () => reviveMails(deps),
    postMail: (input: Omit<PostMail, 'signal'>) => withHeartbeat(({ signal }) => postMail(deps, { ...input, signal })),
    reviveErasures: () => reviveErasures(deps),
    removeTraces: (input: { memberId: string }) => withHeartbeat(() => removeTraces(deps, input)),
    endErasure: (input: { memberId: string }) => endErasure(deps, input),
    reviveBatches: (input: { after?: string }) => reviveBatches(deps, input),
    cleanUpBatches: () => withHeartbeat(() => cleanUpBatches(deps)),
    publishEvents: (lease: Lease) =>
      withHeartbeat(({ signal }) => publishEvents(deps, { ...lease, cancellationSignal: signal })),
    publishNow: (lease: Lease) =>
      withHeartbeat(({ signal }) => publishNow(deps, { ...lease, cancellationSignal: signal })),
    postWebhook: (input: Pick<DeliverWebhook, 'deliveryId' | 'attemptsLeft' | 'attemptsMade'>) =>
      withHeartbeat(({ signal, lastDetails, saveDetails }) => {
        const attemptsAtStart = typeof lastDetails === 'number' ? lastDetails : undefined;
        const { workflowExecution, attempt } = Context.current().info;
        const activityAttempt = { runId: workflowExecution?.runId ?? '', attempt };
        return postWebhook(deps, {
          ...input,
          activityAttempt,
          attemptsAtStart,
          saveAttemptsAtStart: saveDetails,
          signal,
        });
      }),
    giveLots: ({ at, ...input }: Omit<GiveLots, 'at' | 'signal'> & { at?: number }) =>
      withHeartbeat(({ signal }) => giveLots(deps, { ...input, ...atMoment(at), signal })),
    expireLots: ({ at, ...input }: Omit<ExpireLots, 'at' | 'signal'> & { at?: number }) =>
      withHeartbeat(({ signal }) => expireLots(deps, { ...input, ...atMoment(at), signal })),
    recountMerchants: (input: Recount) =>
      withHeartbeat(({ signal }) => recountMerchants(deps, input, { signal: orShutdown(signal) })),
    relayEvents: ({ shard }: Relay) => {
      const { info, cancellationSignal } = Context.current();
      return relayEvents(deps, {
        shard,
        activityAttemptId: `${info.workflowExecution?.runId ?? ''}.${info.activityId}.${info.attempt}`,
        signal: orShutdown(cancellationSignal),
        cancellationSignal: cancellationSignal,
        heartbeat: (relayed) => Context.current().heartbeat(relayed),
        forMs: roundMs,
        idleEndMs,
      });
    },
    createImported: runsChunks(createImported),
    publishImported: runsChunks(publishImported),
    snapshotCampaign: listsTargets(snapshotCampaign),
    snapshotPlannedCampaign: listsTargets(snapshotCampaign),
    runAutomaticRule: (input: SendAutomaticMessages) => withHeartbeat(() => runAutomaticRule(deps, input)),
    snapshotCreated: listsTargets(snapshotCreated),
    mailCards: runsChunks(mailCards),
    snapshotRebuild: listsTargets(snapshotRebuild),
    sendMessages: runsChunks(sendMessages),
    sendPlannedMessages: runsChunks(sendMessages),
    snapshotReplay: listsTargets(snapshotReplay),
    replayEvents: runsChunks(replayEvents),
    finishBatch: (input: FinishBatch) => finishBatch(deps, input),
    finishImport: (input: FinishImport) => finishImport(deps, input),
    issueImportedLate: ({ batchId }: { batchId: string }) =>
      withHeartbeat(({ signal, lastDetails, saveDetails }) =>
        issueImportedLate(deps, {
          batchId,
          progress: lastDetails as LateProgress | undefined,
          save: saveDetails,
          cancellationSignal: signal,
        }),
      ),
  };
}

export type Activities = ReturnType<typeof createActivities>;
