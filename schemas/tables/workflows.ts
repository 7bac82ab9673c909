// The contract between workflows and the code that starts them: names, inputs, task queues. Only constants and types,
// so that workflow code can import this file. Inputs have ids and never names, emails or secrets, because operators see
// inputs in Temporal's UI.
import type { PassUpdate } from '../shared/passUpdate.schema.js';

export const taskQueues = {
  /** Workflow code, and short activities on the database. */
  workflows: 'workflows',
  /** Requests to Apple and Google. */
  wallets: 'wallets',
  /** Publishing of events, with first attempts at receivers. */
  webhooks: 'webhooks',
  /**
   * Further attempts at receivers, mails, and replays. Many slots, because a slow receiver occupies one for its whole
   * timeout.
   */
  retries: 'retries',
  /** Rows of imports, for which a request may be waiting. No activity on this queue waits for wallets or receivers. */
  imports: 'imports',
  /** Long work on many rows: what follows an import, campaigns, rebuilds, expiry, erasures; at the lowest priority. */
  batches: 'batches',
} as const;

/** The Temporal update by which API processes that start `publishChange` get the result of the push. */
export const passUpdateName = 'passUpdate';

/** The Temporal update that returns the result of the first attempt on both wallets to the public page. */
export const passIssuanceName = 'passIssuance';

/** The Temporal signal that the rule of an automatic message was changed. */
export const ruleChangedName = 'ruleChanged';

export interface PassIssuance {
  apple: boolean;
  google: boolean;
}

export interface PublishChange {
  merchantId: string;
  eventIds: string[];
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
  /** Milliseconds since 1970; the attempt is not made before this time. */
  notBefore: number;
  /** How many attempts the subscription's policy still allows when the workflow starts, at least 1. */
  attemptsLeft: number;
  /** How many attempts of the policy were made before this workflow; workflows of earlier releases have none. */
  attemptsMade?: number;
  backoffMs: number;
}

/** The work that the wallets did not accept for the relay or a batch. */
export interface RetryPasses {
  merchantId: string;
  /** Members whose passes are to be issued. */
  memberIds: string[];
  /** Events whose changes are to be pushed. */
  eventIds: string[];
}

/** An erased member whose remaining data is to be removed. */
export interface EraseMember {
  merchantId: string;
  memberId: string;
  /** When the last run begins, in milliseconds after the first one. */
  lastRunMs: number;
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

/** The rule of an automatic message: `<programId>:<audience>`. */
export interface SendAutomaticMessages {
  merchantId: string;
  ruleId: string;
}

/** What is next for a rule. */
export interface RuleProgress {
  /** When its next day is due, in milliseconds since 1970; absent when the rule is off. */
  nextAt?: number;
  /** One line for operators. */
  said?: string;
}

export interface ImportMembers extends RunBatch {
  /** Where an earlier run of the same import stopped (continue-as-new). */
  resume?: { stage: 'creating' | 'publishing'; from: number; failure?: string };
}

/** The progress after one step of listing the targets of a batch. */
export interface ListProgress {
  /** How many targets are listed so far. */
  total: number;
  /** True while the list is incomplete. */
  more?: true;
  /** Before which moment the list may not be begun, in milliseconds since 1970. */
  notBefore?: number;
}

/** The progress after one step of a batch. */
export interface ChunkProgress {
  /** The first chunk of the next step. */
  next: number;
  /** True when the stage is complete. */
  over: boolean;
  total: number;
  done: number;
  created: number;
  completedMembers: number;
  /** How long to wait before the next step; absent when it may follow at once. */
  waitMs?: number;
}

/**
 * A page of a program's objects at Google. Without `page` it is the first page of the next program after `programId`.
 */
export interface SavesCursor {
  programId: string;
  page?: string;
}

export interface ReconcileSaves {
  /** How long a callback from Google may be delayed. */
  callbackGraceMs: number;
  /** Where an earlier run of the same reconciliation stopped (continue-as-new), and how many members it corrected. */
  cursor?: SavesCursor;
  corrected?: number;
}

/** Where an earlier run of the same recount stopped (continue-as-new), and its results. */
export interface Recount {
  after?: string;
  merchants?: number;
  repaired?: number;
}

export interface Recounted {
  merchants: number;
  repaired: number;
  /** Where to continue; absent when nothing is left. */
  next?: string;
}

export interface ExpirePoints {
  /** Only the members of this program. */
  programId?: string;
  /** Milliseconds since 1970: expires what is due by then; by default by now. */
  at?: number;
  /** Where an earlier run of the same expiry stopped (continue-as-new), and its results. */
  slice?: number;
  expired?: number;
}

/** How many members' points expired, and how many could not be written. */
export interface ExpiryProgress {
  expired: number;
  failed: number;
  /** The next slice of members; absent at the end. */
  next?: number;
}

export interface SendMail {
  merchantId: string;
  mailId: string;
}

export interface WorkflowInputs {
  announceChange: PublishChange;
  publishChange: PublishChange;
  issuePasses: IssuePasses;
  deliverWebhook: DeliverWebhook;
  relay: Relay;
  retryPasses: RetryPasses;
  repushPasses: Record<string, never>;
  importMembers: ImportMembers;
  reviveWork: Record<string, never>;
  removeBatchRows: Record<string, never>;
  sendCampaign: RunBatch;
  sendPlannedCampaign: RunBatch;
  sendAutomaticMessages: SendAutomaticMessages;
  replayDeliveries: RunBatch;
  rebuildPasses: RunBatch;
  mailCards: RunBatch;
  reconcileSaves: ReconcileSaves;
  followGoogle: Record<string, never>;
  recount: Recount;
  updateClasses: Record<string, never>;
  expirePoints: ExpirePoints;
  sendMail: SendMail;
  eraseMember: EraseMember;
}

export type WorkflowName = keyof WorkflowInputs;

/** They run whenever something is due (worker/duties.ts). */
export const dutyNames = [
  ...(['relay', 'expirePoints', 'reviveWork', 'removeBatchRows'] as const),
  ...(['repushPasses', 'updateClasses', 'followGoogle'] as const),
] as const satisfies readonly WorkflowName[];
export type DutyName = (typeof dutyNames)[number];

/** What pushPasses recorded, by event id. Events that another lease owner processes are missing. */
export interface PushedPasses {
  passUpdates: Record<string, PassUpdate>;
  /** Events that the pushes created (`pass.updated`, `pass.removed`) and that have to be published. */
  newEventIds: string[];
  /** Events whose wallets could not be reached yet. */
  late: string[];
}
