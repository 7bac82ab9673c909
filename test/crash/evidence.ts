// What a crash test knows when everything has come to rest: what was asked and answered, what the database holds, what the
// receivers got, what is left in Temporal. Plain data, so that the checkers can be shown to fail on made-up cases.

export type Kind = 'enroll' | 'delta' | 'value' | 'redeem' | 'status' | 'tag' | 'import';

/** `acknowledged`: a 2xx came. `refused`: a 4xx that says that nothing changed. `indeterminate`: nobody knows. */
export type Outcome = 'acknowledged' | 'refused' | 'indeterminate';

export interface Operation {
  kind: Kind;
  outcome: Outcome;
  /** HTTP requests made for it, retries and second tries included. */
  requests: number;
  /** Empty for an enrollment, which is known by its emails. */
  memberId: string;
  /** Of a keyed gesture: the id that its ledger row must have. */
  gestureId?: string;
  /** Of an enrollment or an import: who must exist afterwards. */
  people?: { email: string; initialPoints: number }[];
  /** Of a status change. */
  status?: string;
  /** Of a tag. */
  tag?: string;
  /** True when the answer said that it was so already. */
  unchanged?: boolean;
  /** What the answer of a gesture said. */
  told?: { previous: number; current: number };
  /** The bodies of all 2xx answers to this one key. */
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
}

export interface LedgerFound {
  id: string;
  memberId: string;
  type: 'initial' | 'adjust' | 'redeem';
  previous: number;
  current: number;
  delta: number;
  memberVersion: number;
  eventId?: string;
}

export interface EventFound {
  id: string;
  type: string;
  memberId: string;
  memberVersion: number;
  published: boolean;
  silent: boolean;
  previous?: number;
  current?: number;
  platform?: string;
  status?: string;
  previousStatus?: string;
  /** Of a `member.updated`: what changed and the tags afterwards. */
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
  /** True when it was told of everything from beginning to end, and its receiver takes everything in the end. */
  steady: boolean;
}

export interface Receipt {
  subscriptionId: string;
  eventId: string;
  /** A hash of the bytes. */
  bytes: string;
  signed: boolean;
  /** True when the receiver said 2xx. */
  accepted: boolean;
}

export interface WorkflowFound {
  id: string;
  type: string;
  status: string;
}

export interface Evidence {
  operations: Operation[];
  members: MemberFound[];
  ledger: LedgerFound[];
  events: EventFound[];
  deliveries: DeliveryFound[];
  subscriptions: SubscriptionFound[];
  receipts: Receipt[];
  workflows: WorkflowFound[];
}

/** Workflow types that always run, or are started by a schedule again and again. */
export const standing: readonly string[] = ['relay', 'repushPasses', 'recount', 'reviveBatches'];
