// The contract between whoever starts a workflow and the workflow: names, inputs, task queues. Constants and types only, so
// that workflow code can import it. Inputs carry ids, never names, emails or secrets: operators read them in the UI.
import type { PassUpdate } from './passUpdate.js';

export const taskQueues = {
  /** Workflow code, and short effects on the database. */
  gestures: 'gestures',
  /** Apple and Google. */
  wallet: 'wallet',
  /** Receivers: many slots, since a slow receiver holds one for its whole timeout. */
  webhooks: 'webhooks',
  /** Rows of imports, which somebody may be waiting for: nothing here waits for wallets or receivers. */
  imports: 'imports',
  /** What follows an import, campaigns and replays, lowest priority. */
  batches: 'batches',
} as const;

/** The update that answers the API once the wallets were told. */
export const passUpdateUpdate = 'passUpdate';

/** The update that answers the public page once both wallets had their first try. */
export const passIssuanceUpdate = 'passIssuance';

export interface PassIssuance {
  apple: boolean;
  google: boolean;
}

export interface PublishChange {
  merchantId: string;
  eventIds: string[];
  /** False when the transaction already knew that there is nobody to push to. */
  push: boolean;
}

export interface IssuePasses {
  merchantId: string;
  memberId: string;
  eventId: string;
}

export interface DeliverWebhook {
  deliveryId: string;
  eventId: string;
  subscriptionId: string;
  merchantId: string;
  /** Milliseconds since the epoch; the attempt is not made before. */
  notBefore: number;
  /** Attempts that the subscription's policy still allows, at least 1. */
  attempts: number;
  backoffMs: number;
}

/** Pushes that a relay or a batch could not get through at once. */
export interface PushLate {
  merchantId: string;
  eventIds: string[];
}

/** Passes that a relay could not get issued at once. */
export interface IssueLate {
  merchantId: string;
  memberIds: string[];
}

export interface Relay {
  shard: number;
}

export interface RunBatch {
  merchantId: string;
  batchId: string;
  /** Where an earlier run of the same batch stopped (continue-as-new). */
  cursor?: number;
}

/** Tells a waiting import that its file is in the store. */
export const uploadedSignal = 'uploaded';

export interface ImportMembers extends RunBatch {
  /** Where an earlier run of the same import stopped (continue-as-new). */
  resume?: { stage: 'creating' | 'publishing'; from: number; failure?: string };
}

/** How far one share of an import's work came. */
export interface ImportStep {
  /** The chunk to go on with. */
  next: number;
  /** Nothing is left of this stage. */
  over: boolean;
  total: number;
  done: number;
  created: number;
  carried: number;
}

/** A page of a program's objects at Google; without one, of the program that follows. */
export interface SavesCursor {
  programId: string;
  page?: string;
}

export interface ReconcileSaves {
  /** How long a callback may still be on its way. */
  patienceMs: number;
  /** Where an earlier run of the same reconciliation stopped (continue-as-new), and what it did. */
  cursor?: SavesCursor;
  corrected?: number;
}

/** Where an earlier run of the same recount stopped (continue-as-new), and what it did. */
export interface Recount {
  after?: string;
  merchants?: number;
  repaired?: number;
}

export interface Recounted {
  merchants: number;
  repaired: number;
  /** Where to go on; absent when there is nothing left. */
  next?: string;
}

export interface WorkflowInputs {
  publishChange: PublishChange;
  issuePasses: IssuePasses;
  deliverWebhook: DeliverWebhook;
  relay: Relay;
  pushPassesLate: PushLate;
  issuePassesLate: IssueLate;
  repushPasses: Record<string, never>;
  importMembers: ImportMembers;
  reviveBatches: Record<string, never>;
  sendCampaign: RunBatch;
  replayDeliveries: RunBatch;
  rebuildPasses: RunBatch;
  reconcileSaves: ReconcileSaves;
  recount: Recount;
}

export type WorkflowName = keyof WorkflowInputs;

/** What pushPasses recorded, by event id; an event that another holder works on is missing. */
export interface PushedPasses {
  passUpdates: Record<string, PassUpdate>;
  /** Events that the pushes themselves made (`pass.updated`, `pass.removed`), still to be published. */
  eventIds: string[];
  /** Events whose wallets could not be reached yet. */
  late: string[];
}
