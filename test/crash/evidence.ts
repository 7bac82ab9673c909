// The evidence of a crash test after all work is done: requests and answers, the content of the database, the webhooks
// at the receivers, the workflows in Temporal. It is plain data, so that a test can run the checkers on made-up cases.

import type { LedgerType } from '../../schemas/points/ledger.schema.js';
import { dutyNames } from '../../schemas/tables/workflows.js';

/** Changes of a balance; each has an idempotency key. */
export const balanceKinds = ['delta', 'value', 'redeem', 'earn', 'reverse'] as const;
export type BalanceKind = (typeof balanceKinds)[number];

export type Kind = BalanceKind | 'enroll' | 'status' | 'tag' | 'import' | 'replay';

/**
 * `acknowledged`: answered 2xx. `refused`: answered 4xx, so nothing changed. `indeterminate`: no answer says whether it
 * was applied.
 */
export type Outcome = 'acknowledged' | 'refused' | 'indeterminate';

export interface Operation {
  kind: Kind;
  outcome: Outcome;
  /** HTTP requests for this operation, including retries and second attempts. */
  requests: number;
  /** Empty for an enrollment, which is identified by its emails. */
  memberId: string;
  /** For a keyed change: the id that its ledger entry must have. */
  keyedChangeId?: string;
  /** For an enrollment or an import: the people who must exist afterwards. */
  people?: { email: string; initialPoints: number }[];
  /** For a status change. */
  status?: string;
  /** For adding a tag. */
  tag?: string;
  /** True when the answer said that the member had this state already. */
  unchanged?: boolean;
  /** The balances in the answer to a change. */
  answered?: { previous: number; current: number };
  /** The bodies of all 2xx answers to this key. */
  bodies: string[];
  /** Answers that the contract does not allow. */
  surprises: string[];
}

export interface MemberFound {
  id: string;
  email: string;
  balance: number;
  status: string;
  tags: string[];
  goal: number;
  resets: boolean;
  lifetimePoints: number;
  redeemedCount: number;
  /** When points expire: the remaining points by their expiry (milliseconds since 1970). */
  lots?: { left: number; at: number }[];
  /** The most points that the program lets a member earn on one day. */
  dailyLimit?: number;
}

export interface LedgerFound {
  id: string;
  memberId: string;
  type: LedgerType;
  previous: number;
  current: number;
  delta: number;
  memberVersion: number;
  eventId?: string;
  reverses?: string;
  reversedBy?: string;
  /** The changes of lifetime points and redemptions. */
  lifetime: number;
  redeemed: number;
  /** When points expire: the change by expiry. */
  lots?: { by: number; at: number }[];
  createdAt?: number;
  /** Of an earning: the day of the sale, in UTC. */
  soldOn?: string;
}

export interface EventFound {
  id: string;
  type: string;
  memberId: string;
  memberVersion: number;
  published: boolean;
  internal: boolean;
  previous?: number;
  current?: number;
  platform?: string;
  status?: string;
  previousStatus?: string;
  /** For a `member.updated`: the changed fields, and the tags afterwards. */
  changed?: string[];
  tags?: string[];
}

export interface DeliveryFound {
  id: string;
  eventId: string;
  subscriptionId: string;
  state: string;
}

export interface SubscriptionFound {
  id: string;
  name: string;
  /** Event types, or `*`. */
  events: string[];
  /** True when the subscription existed during the whole run and its receiver finally accepts everything. */
  steady: boolean;
}

export interface Receipt {
  subscriptionId: string;
  eventId: string;
  /** A hash of the body. */
  bytes: string;
  signed: boolean;
  /** True when the receiver answered 2xx. */
  accepted: boolean;
}

export interface WorkflowFound {
  id: string;
  type: string;
  status: string;
}

export interface CountedFound {
  enrolled: number;
  /** Points given, minus those spent and expired. */
  points: number;
  redeems: number;
  deliveries: number;
  deliveriesInLog: number;
}

export interface Evidence {
  /** Milliseconds since 1970. */
  collectedAt?: number;
  operations: Operation[];
  members: MemberFound[];
  ledger: LedgerFound[];
  events: EventFound[];
  deliveries: DeliveryFound[];
  subscriptions: SubscriptionFound[];
  receipts: Receipt[];
  workflows: WorkflowFound[];
  /** The overviews of all merchants, and the number of successful deliveries in the log. */
  counted?: CountedFound;
  /** For each reader of the feed, the ids of its events in feed order, from beginning to end. */
  feeds: string[][];
}

/** Workflow types that run whenever something is due, or by a schedule. */
export const permanentWorkflows: readonly string[] = [...dutyNames, 'recount'];

/** Finds every other workflow that runs. */
export const runningWork = `ExecutionStatus = "Running" AND WorkflowType NOT IN (${permanentWorkflows.map((type) => `"${type}"`).join(', ')})`;
