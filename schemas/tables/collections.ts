// The row types and indexes of all MongoDB collections; each index states its reason. Queries for a caller ask for
// the merchant or a business key; work for all merchants asks for a shard, slice or due time. No query scans a
// collection. The migration creates the indexes; the service does not start when a unique index is missing.
import type { Binary, IndexDirection } from 'mongodb';
import type { Actor } from '../access/actor.schema.js';
import type { AuditAction, AuditActor } from '../access/audit.schema.js';
import type { MerchantLimits } from '../access/merchantLimits.schema.js';
import type { Permission } from '../access/permissions.schema.js';
import type { BatchKind, BatchPhase, ImportCounts, ImportOutcome } from '../batches/batches.schema.js';
import type { ImportField } from '../batches/importRows.rules.js';
import type { DisabledReason, EventType } from '../events/events.schema.js';
import type { MailKind, MailState } from '../mail/mails.schema.js';
import type { MemberStatus, Person } from '../members/members.schema.js';
import type { MemberExpiry } from '../points/expiry.rules.js';
import type { LedgerEffect } from '../points/ledger.schema.js';
import type { LotChange } from '../points/lots.rules.js';
import type { LedgerType } from '../points/transactions.schema.js';
import type { ExpiryKind } from '../programs/expiry.schema.js';
import type { ProgramDraftRow, ProgramVersionRow, SlugRow } from '../programs/programs.rows.js';
import type { Program } from '../programs/programs.schema.js';
import type { Delimiter } from '../shared/csv.rules.js';
import type { Language } from '../shared/languages/index.js';
import type { PassUpdate, Platform } from '../shared/passUpdate.schema.js';
import type { DeliveryState } from '../webhooks/webhooks.schema.js';

export type ProgramRow = Omit<Program, 'expirySince'>;

export interface MemberRow {
  _id: string;
  merchantId: string;
  programId: string;
  memberCode: string;
  serialNumber: string;
  firstName?: string;
  lastName?: string;
  email?: string;
  /** As it was written. */
  phone?: string;
  /** E.164. Absent where the country or the area code of the number is unknown. */
  phoneE164?: string;
  externalId?: string;
  field: string;
  balance: number;
  lifetimePoints: number;
  tier?: string;
  /** The version of the program that decided `tier`; 1 where it is absent. */
  programVersion?: number;
  tags: string[];
  status: MemberStatus;
  /** Incremented by each change, whose write compares it. */
  version: number;
  pass: {
    /** Part of the public address of the member's web card. */
    token: string;
    /** Apple Wallet sends it as `Authorization: ApplePass <token>`. */
    authenticationToken: string;
    tag: Date;
    modifiedAt: Date;
    message?: string;
    messageSequence: number;
    /** Created by a quiet import: no receiver is notified when a wallet gets its pass. */
    quiet?: boolean;
    appleIssuedAt?: Date;
    googleIssuedAt?: Date;
    googleSaved?: boolean;
    /** Present when the object exists at Google. */
    googleSaveUrl?: string;
    /**
     * Since when the object at Google has to be created, or updated although no customer is known to have saved it
     * (activities/wallets/google/followObjects.activity.ts).
     */
    googleDueAt?: Date;
    /** Since when phones have to be told of a change that they could not be told (activities/wallets/apple/repush.activity.ts). */
    appleDueAt?: Date;
    /**
     * While a wallet has not accepted the pass: when the workflow that retries counts as lost
     * (activities/wallets/revivePasses.activity.ts). Each attempt moves it ahead.
     */
    issueDueAt?: Date;
  };
  deviceCount: number;
  redeemedCount: number;
  ledgerCount: number;
  /** Absent when points do not expire, and until the first change of the member after the program got its rule. */
  expiry?: MemberExpiry;
  source: 'api' | 'console' | 'import' | 'public';
  /** A digest of the cookie of the browser in which the member joined, to recognise a repeated submission. */
  formDigest?: string;
  /** What the member consented to on the public page, and when. */
  consent?: { at: Date; programVersion: number; text: string };
  attribution: Record<string, string>;
  /** When a migration has added search words (worker/addSearchWords.ts). */
  wordsAt?: Date;
  createdAt: Date;
  updatedAt: Date;
}

/**
 * The member that has an email in a program; the id is `<programId>:<email>`. The row is created and removed with the
 * address. A unique index on the email of a member would not work on the embedded engine: when a field changes, this
 * engine never frees the old value, and it lets two transactions take the same new value.
 */
export interface EmailRow {
  _id: string;
  merchantId: string;
  memberId: string;
  memberCode: string;
}

/**
 * The member that has an external id in a program; the id is `<programId>:<externalId>`. The row is created and removed
 * with the external id (docs/decisions/095-external-ids.md).
 */
export interface ExternalIdRow {
  _id: string;
  merchantId: string;
  externalId: string;
  /** `codeForm` of the external id; member codes are never among them. */
  code?: string;
  memberId: string;
}

/**
 * The search index: one row for each search word of a member. A word of `q` finds the rows whose word begins with it.
 */
export interface MemberSearchWordRow {
  _id: string;
  merchantId: string;
  word: string;
  /** `searchLevel` of the member. */
  level: number;
  memberId: string;
  programId: string;
  createdAt: Date;
}

/**
 * The totals that lists show, maintained where members are created and repaired by a scheduled recount. The row
 * `feed:<merchantId>` has the last number of the merchant's feed; `made:<owner>` counts all inserts under a quota;
 * `searchWords:<rule>` says when a migration has looked for search words that members lack.
 */
export interface CounterRow {
  _id: string;
  merchantId: string;
  members?: number;
  sequence?: number;
  made?: number;
  at?: Date;
}

/** Since when the points of a program expire; the id is that of the program. */
export interface ExpiryRow {
  _id: string;
  merchantId: string;
  kind: ExpiryKind;
  since: Date;
  /** The part of the members that gets lots next (activities/points/giveLots.activity.ts). */
  next: number;
}

/** The tags in use: one row for each merchant and tag, so that listing tags reads no members. */
export interface TagRow {
  _id: string;
  merchantId: string;
  tag: string;
}

export interface LedgerRow {
  _id: string;
  merchantId: string;
  memberId: string;
  programId: string;
  eventId?: string;
  fingerprint?: string;
  type: LedgerType;
  field: string;
  previous: number;
  current: number;
  delta: number;
  tier?: string;
  previousTier?: string;
  changeMessage?: string;
  /** The other effects of the change, for its reversal. Rows from before reversals existed lack it. */
  effect?: LedgerEffect;
  /** Only when points expire: the changes of the member's lots. */
  lots?: LotChange[];
  /** The version of the program that applied. */
  rule?: { programVersion: number };
  /** The id of the row that this row reverses, and the id of the row that reverses this row. */
  reverses?: string;
  reversedBy?: string;
  /** Only on reversals. */
  reason?: string;
  /** Only on redeems of a reward other than the default one. */
  rewardId?: string;
  /** Of a sale, in minor units. */
  amount?: number;
  currency?: string;
  reference?: string;
  location?: string;
  /** The time of the change at the till. */
  occurredAt?: Date;
  /** Only on earnings: the fields by which limits count them. */
  earning?: { memberId: string; soldAt: Date };
  actor: Actor;
  memberVersion: number;
  createdAt: Date;
}

export interface IdempotencyKeyRow {
  _id: string;
  merchantId: string;
  fingerprint: string;
  /** Of a change of a member: its event. */
  eventId?: string;
  /** Of a request that starts a batch. */
  batchId?: string;
  /** Of an enrollment: the member that it made or met. */
  memberId?: string;
  createdAt: Date;
  /** Status and exact bytes of the answer; absent until the answer of the first request is known. */
  response?: { status: number; body: Binary };
}

export interface EventRow {
  _id: string;
  merchantId: string;
  /** `pass.push` is no event type: see `internal`. */
  type: EventType | 'pass.push';
  memberId?: string;
  programId?: string;
  occurredAt: Date;
  data: Record<string, unknown>;
  /** Only on a `member.created`, for the counters of the overview. */
  initialPoints?: number;
  /**
   * What the wallets need before the event can be published: issue the passes, push this version, or refresh Google's
   * copy of the member.
   */
  passAction?: 'issue' | 'push' | 'refresh';
  /** Pushed although the program's push messages are off. */
  mandatory?: true;
  /** For a batch's push to a member: the chunk of targets that counts the result. */
  targetsId?: string;
  /** Recorded once: by the push, or with the change when no push is needed. Absent while it is not known. */
  passUpdate?: PassUpdate | null;
  /**
   * Only on an event that was published before the wallets accepted its push: when the workflow that retries the push
   * counts as lost (activities/wallets/revivePasses.activity.ts). Each attempt moves it ahead.
   */
  pushDueAt?: Date;
  state: 'new' | 'published';
  /** The lease owner, which processes the event until `dueAt`; from then on the relay may take it. */
  leaseOwner: string;
  /** Identifies one run of the lease owner; a newer run replaces it. */
  fence?: string;
  dueAt: Date;
  shard: number;
  envelope?: Binary;
  publishedAt?: Date;
  /**
   * The number in the merchant's feed: 0 while the event waits for one, absent for an event that is not in the feed
   * (api/events/feed.reads.ts).
   */
  sequence?: number;
  /** A push job (`pass.push`), which subscribers and the feed do not see, or a test event, which is not in the feed. */
  internal?: true;
  /** A test event is delivered to this subscription only. */
  onlySubscriptionId?: string;
  /** The trace context of the request that created the event, when tracing is on. */
  traceparent?: string;
  /**
   * Only on an event about a member who was erased before or after it was published: its data and bytes are empty, and
   * it is no longer delivered.
   */
  erasedAt?: Date;
}

export interface FullName {
  firstName: string;
  lastName: string;
}

/**
 * A member that was erased or is being erased; the id is that of the member. The row is kept and contains no personal
 * data.
 */
export interface ErasureRow {
  _id: string;
  merchantId: string;
  programId: string;
  /** Absent while the phones still get the update that voids the pass. */
  erasedAt?: Date;
  /** The values by which the first run finds the remaining data. Removed at its end. */
  person?: { serialNumber: string; values: string[]; names?: FullName[]; tags: string[] };
  /** How many runs have searched all collections. */
  runs: number;
  /** When the workflow counts as lost, or the next run is due. Absent after the last run. */
  dueAt?: Date;
}

/** An object at Google that is to be cleared; the id is that of its erased member. */
export interface GoogleClearRow {
  _id: string;
  dueAt: Date;
}

/** The code of an erased member, which is never reused; the id is a digest of merchant and code. */
export interface SpentCodeRow {
  _id: string;
  merchantId: string;
}

/**
 * Counters of one program in one month, by day and name (activities/stats/counting.writes.ts). Never deleted: a program
 * has at most eight rows a month. `programId` is empty for counts that belong to no program.
 */
export interface StatsRow {
  _id: string;
  merchantId: string;
  programId: string;
  /** As `2026-11`, in UTC. */
  month: string;
  days?: Record<string, Record<string, number>>;
}

/** A program whose class has to be updated at Google; the id is that of the program. */
export interface ClassUpdateRow {
  _id: string;
  merchantId: string;
  /** Changes with each change of the program. */
  revision: string;
}

export interface DeliveryAttempt {
  attempt: number;
  at: Date;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
}

export interface DeliveryRow {
  _id: string;
  merchantId: string;
  subscriptionId: string;
  eventId: string;
  eventType: string;
  /** Copied from the event, if it is about a member or a program. */
  memberId?: string;
  programId?: string;
  url: string;
  state: DeliveryState;
  success: boolean | null;
  statusCode: number | null;
  error: string | null;
  detail: string | null;
  attempts: number;
  history: DeliveryAttempt[];
  createdAt: Date;
  lastAttemptAt: Date | null;
  nextAttemptAt: Date | null;
  /**
   * The queue of an unfinished delivery, and when the delivery is due there (activities/webhooks/deliveryQueue.writes.ts): the
   * id of its subscription, or `own-workflow:<merchantId>` while a workflow makes its attempts. An attempt in progress
   * moves `dueAt` ahead.
   */
  dueGroup?: string;
  dueAt?: Date;
  /** Identifies the current attempt of the queue or of the delivery's workflow; a newer attempt replaces it. */
  fence?: string;
  /**
   * The workflow run and the number of the activity attempt that set the fence. An older attempt of the run never sets
   * it again.
   */
  activityAttempt?: { runId: string; attempt: number };
  replayOf?: string;
  /**
   * Only on a replay: the id of the first delivery of the event to this subscription, whether that delivery exists or
   * not. A replay of a replay has the same id. When one of the deliveries with a root succeeds, all of them have.
   */
  root?: string;
}

/** A subscription with deliveries in the queue; the id is that of the subscription. */
export interface WaitingSubscriptionRow {
  _id: string;
  merchantId: string;
  shard: number;
  /** Incremented when deliveries are queued, so that the row is not removed when some were queued in the meantime. */
  marks: number;
}

export interface SubscriptionRow {
  _id: string;
  merchantId: string;
  name: string;
  description: string;
  url: string;
  events: string[];
  enabled: boolean;
  timeoutMs: number;
  retryPolicy: { maxAttempts: number; backoffMs: number; factor?: number };
  /** Newest first, encrypted with SECRETS_KEY; all but the first are valid until `expiresAt`. */
  secrets: { sealed: string; expiresAt?: Date }[];
  health: {
    failingSince: Date | null;
    lastSuccessAt: Date | null;
    consecutiveFailures: number;
    disabledReason?: DisabledReason;
  };
  createdAt: Date;
  updatedAt: Date;
}

export interface TimelineRow {
  _id: string;
  merchantId: string;
  memberId: string;
  type: string;
  outcome: 'success' | 'failure' | 'skipped';
  platform?: Platform;
  detail?: string;
  occurredAt: Date;
}

/** One registration of one pass on one device. */
export interface DeviceRow {
  _id: string;
  merchantId: string;
  memberId: string;
  deviceLibraryIdentifier: string;
  passTypeIdentifier: string;
  serialNumber: string;
  pushToken: string;
  registeredAt: Date;
  /** The version that a list answer last reported, and the `lastUpdated` of that answer. */
  listedTag?: Date;
  listedIn?: Date;
  lastListedAt?: Date;
  lastFetchedAt?: Date;
  fetchedTag?: Date;
  /** `refusedSince`: the first of the last pushes, all refused because of the token. */
  lastPush?: { at: Date; status: number; tag: Date; reason?: string; refusedSince?: Date };
  /**
   * When to check whether the phone fetched the pushed version, and how often it was pushed again
   * (activities/wallets/apple/repush.activity.ts).
   */
  recheckAt?: Date;
  recheckRound?: number;
  stale?: boolean;
}

/** A registration of a pass that ended recently (activities/wallets/apple/endRegistration.writes.ts). */
export interface RemovalRow {
  _id: string;
  merchantId: string;
  memberId: string;
  /** A removal that was reported as `pass.removed`; such a row is deleted by a TTL index. */
  reportedAt?: Date;
  /** When the removal is reported, unless the pass is added again before. */
  reportAt?: Date;
}

export interface DeviceLogRow {
  _id: string;
  message: string;
  serialNumber?: string;
  receivedAt: Date;
}

export interface ApiKeyRow {
  _id: string;
  merchantId: string;
  hash: string;
  keyPrefix: string;
  name: string;
  roleIds: string[];
  createdBy: string;
  createdAt: Date;
  expiresAt?: Date;
  revokedAt?: Date;
  /** The start of the minute of the last request with the key. */
  lastUsedAt?: Date;
  /** CIDRs; requests from other addresses are refused. Absent: all addresses are allowed. */
  allowedNetworks?: string[];
}

export interface RoleRow {
  _id: string;
  merchantId: string | null;
  name: string;
  permissions: Permission[];
}

/** A user, who may sign in to the console of one merchant. The address never changes and is unique in the merchant. */
export interface UserRow {
  _id: string;
  merchantId: string;
  email: string;
  roleIds: string[];
  /** Incremented by each change and each sign-in, whose writes compare it. */
  version: number;
  createdAt: Date;
  createdBy: string;
  lastSignInAt?: Date;
  /** The person's identity at the OpenID provider, since the first sign-in there. */
  identity?: { issuer: string; sub: string };
}

/** A session of the service; the id is the `sid` of its token. Deleting the row ends the session. */
export interface SessionRow {
  _id: string;
  merchantId: string;
  userId: string;
  createdAt: Date;
  /** The end of the session: after the idle time, or after the maximum duration. */
  endsAt: Date;
}

/** A sign-in link; the id is the hash of its token. */
export interface SignInLinkRow {
  _id: string;
  email: string;
  /** The users that the link can sign in; the person chooses one of them. */
  userIds: string[];
  /** Only for a person who came from the OpenID provider. */
  identity?: { issuer: string; sub: string };
  expiresAt: Date;
  usedAt?: Date;
}

export interface MerchantRow {
  _id: string;
  name: string;
  createdAt: Date;
  /** Set while the operator has suspended the merchant. */
  suspendedAt?: Date;
  /** Limits that differ from the settings for this merchant. */
  limits?: Partial<MerchantLimits>;
}

/** An audit entry: one change, its actor and its target. Never changed. Contains none of the values that were sent. */
export interface AuditRow {
  _id: string;
  merchantId: string;
  createdAt: Date;
  actor: AuditActor;
  action: AuditAction;
  targetId: string;
  /** The names of the fields of the request. */
  fields?: string[];
  /** The network of the caller; null for an operator, like `requestId`. */
  address: string | null;
  requestId: string | null;
}

export interface BatchRow {
  _id: string;
  merchantId: string;
  kind: BatchKind;
  phase: BatchPhase;
  programId?: string;
  subscriptionId?: string;
  counts: ImportCounts;
  passIssuance: { apple: number; google: number };
  done: number;
  startedBy: Actor;
  startedAt: Date;
  phaseStartedAt?: Date;
  finishedAt?: Date;
  cancelRequestedAt?: Date;
  reason?: string;
  /** Only on an import: its members are created without `member.created` and `pass.created`. */
  quiet?: boolean;
  /** Only on an import whose file had such columns: pairs, because a header may contain any characters. */
  mapping?: (readonly [header: string, field: ImportField | null])[];
  /** Only on an import: the import whose failed rows were sent again with it. */
  repairs?: string;
  /** The number of chunks of an import's rows or of another batch's targets, once all of them are stored. */
  chunks?: number;
  campaign?: { message: string; tags: string[] };
  replay?: { since: Date; until: Date; only: 'failed' | 'all' };
  /**
   * Only on an import: the merchant's own columns of the header; the delimiter of the file, unknown of an import that an
   * older version stored; whether a caller waits for the outcomes; and, until it
   * is queued, when its upload was last active, by the clock of MongoDB.
   */
  header?: string[];
  delimiter?: Delimiter;
  awaited?: true;
  uploadSeenAt?: Date;
  /** Only on an import: how many cells its rows lack because they cannot be read. */
  leftOut?: number;
  /** Only on an import: created members whose passes were issued and whose events were published. */
  completedMembers?: number;
  /** Set when the batch ends: when its rows are removed. Absent after that (activities/batches/removeRows.writes.ts). */
  rowsUntil?: Date;
  /** Only on a finished import that still has passes to issue. */
  unissued?: true;
}

/** One row of an import's file, parsed but not yet processed. */
export interface ImportRow {
  row: number;
  /** As in `ImportLine`; absent from rows that an older version stored. */
  line?: number;
  /** The merchant's own cells, for errors.csv and known.csv. */
  cells: string[];
  person?: Person;
  /** Why the row fails; a row has either a reason or a person. */
  reason?: string;
  /** The cell that the person lacks because it cannot be read, and why. */
  leftOut?: string;
}

/** The outcome of a row, decided once. */
export interface ImportRowOutcome {
  row: number;
  outcome: ImportOutcome;
  memberId?: string;
  memberCode?: string;
  eventId?: string;
  reason?: string;
}

/** A chunk: rows of an import and their outcomes, in one document so that the outcomes are one write. */
export interface ImportChunkRow {
  _id: string;
  batchId: string;
  merchantId: string;
  chunk: number;
  rows: ImportRow[];
  outcomes?: ImportRowOutcome[];
  /** Until the rows are decided: the numbers of those that hold a value of an erased member. */
  ofErased?: number[];
  /** What the rows about a person are found by (schemas/batches/importMarks.rules.ts). */
  marks?: string[];
  /** Written with the outcomes: how many rows had each outcome, from the start of the file to the end of this chunk. */
  cumulative?: Record<ImportRowOutcome['outcome'], number>;
  /** How many members of these rows got a pass on each wallet; set once their events are published. */
  passCounts?: { apple: number; google: number };
}

/** A chunk of the target ids of a batch, and whether its outcomes are in the counts of the batch. */
export interface BatchTargetsRow {
  /** `<batchId>:<chunk>` */
  _id: string;
  batchId: string;
  merchantId: string;
  chunk: number;
  ids: string[];
  /** The number of targets from the start of the list to the end of this chunk. */
  upTo: number;
  /** The position of the last target; the next chunk continues from it. */
  last: Position;
  counted?: true;
  /** Members counted as failed. One that is notified later is removed from this list, and the counts are corrected. */
  failedIds?: string[];
}

/** The position of a target in the list: members are sorted by `createdAt`, events by `occurredAt`, ties by id. */
export interface Position {
  at: Date;
  id: string;
}

/** A mail to one person (activities/mail/queueMail.writes.ts). */
export interface MailRow {
  _id: string;
  merchantId: string;
  /** The member that the mail is about; absent on a mail to a user of the console, and until an address is confirmed. */
  memberId?: string;
  programId?: string;
  kind: MailKind;
  language: Language;
  state: MailState;
  /**
   * The address and the data of this mail, encrypted; removed when the mail was sent or given up, and of a confirmation
   * when it was used.
   */
  sealed?: string;
  /** Only of a confirmation that was not used: finds it by its address (schemas/shared/ids.ts). */
  mark?: string;
  /** Only of a confirmation that was not used: the end of its link, and of the row. */
  expiresAt?: Date;
  attempts: number;
  /** The error of the last attempt, without personal data. */
  failure?: string;
  /** The end of the lease of the current attempt; before the first one, its earliest time. */
  leasedUntil: Date;
  /** No attempt is made after this time. */
  triedUntil: Date;
  /** When the workflow of the mail counts as lost; absent once the mail was sent or given up. */
  dueAt?: Date;
  createdAt: Date;
  sentAt?: Date;
}

/**
 * When mails were, or will be, sent for one reason, to one address, or for one program: as many of the last as its
 * limit counts. The id is a keyed digest, which reveals no address without SECRETS_KEY.
 */
export interface MailCountRow {
  _id: string;
  merchantId: string;
  times: Date[];
  version: number;
  expiresAt: Date;
}

/**
 * The nonce of a callback from Google, so that a repeated callback counts once
 * (docs/interface.md#104-googles-callback).
 */
export interface NonceRow {
  _id: string;
  receivedAt: Date;
}

/** One row that each probe for writes overwrites. */
export interface ProbeRow {
  _id: string;
  at: Date;
}

export interface IndexSpec {
  key: Record<string, IndexDirection>;
  unique?: true;
  /** A sparse index: only the rows that have the field. */
  sparse?: true;
  /** Only the rows that have this field, also where other fields of the key are in every row. */
  partialFilterExpression?: Record<string, { $exists: true }>;
  expireAfterSeconds?: number;
  /** Why the index exists: the query or the rule that it serves. */
  reason: string;
}

/** How long a revoked or expired API key is kept. */
export const endedKeyDays = 30;

const days = (count: number): number => count * 86_400;

export interface CollectionRows {
  merchants: MerchantRow;
  programs: ProgramRow;
  programDrafts: ProgramDraftRow;
  programVersions: ProgramVersionRow;
  slugs: SlugRow;
  members: MemberRow;
  emails: EmailRow;
  externalIds: ExternalIdRow;
  memberSearchWords: MemberSearchWordRow;
  counters: CounterRow;
  expiries: ExpiryRow;
  tags: TagRow;
  ledger: LedgerRow;
  idempotencyKeys: IdempotencyKeyRow;
  events: EventRow;
  classUpdates: ClassUpdateRow;
  stats: StatsRow;
  deliveries: DeliveryRow;
  waitingSubscriptions: WaitingSubscriptionRow;
  subscriptions: SubscriptionRow;
  timeline: TimelineRow;
  devices: DeviceRow;
  removals: RemovalRow;
  erasures: ErasureRow;
  googleClears: GoogleClearRow;
  spentCodes: SpentCodeRow;
  deviceLogs: DeviceLogRow;
  apiKeys: ApiKeyRow;
  roles: RoleRow;
  users: UserRow;
  sessions: SessionRow;
  signInLinks: SignInLinkRow;
  audit: AuditRow;
  batches: BatchRow;
  importChunks: ImportChunkRow;
  batchTargets: BatchTargetsRow;
  mails: MailRow;
  mailCounts: MailCountRow;
  nonces: NonceRow;
  probes: ProbeRow;
}

export type CollectionName = keyof CollectionRows;

export const indexes: Record<CollectionName, readonly IndexSpec[]> = {
  merchants: [{ key: { suspendedAt: 1 }, sparse: true, reason: 'suspended merchants, read every second' }],
  programs: [
    { key: { merchantId: 1, _id: 1 }, reason: 'the list of a merchant' },
    { key: { expiry: 1 }, sparse: true, reason: 'programs with an expiry rule, read every minute' },
  ],
  programDrafts: [{ key: { merchantId: 1, _id: 1 }, reason: 'the list of a merchant' }],
  programVersions: [{ key: { programId: 1, version: -1 }, reason: 'the versions of a program, newest first' }],
  slugs: [],
  members: [
    { key: { merchantId: 1, memberCode: 1 }, unique: true, reason: 'codes are unique in a merchant; `serial`; scans' },
    { key: { serialNumber: 1 }, unique: true, reason: "Apple's web service and legacy passes find by serial" },
    { key: { 'pass.token': 1 }, unique: true, reason: 'the web card' },
    { key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the list, newest first' },
    { key: { merchantId: 1, programId: 1, createdAt: -1, _id: -1 }, reason: 'the list of one program; campaigns' },
    {
      key: { merchantId: 1, 'pass.googleDueAt': 1 },
      partialFilterExpression: { 'pass.googleDueAt': { $exists: true } },
      reason: 'outdated objects at Google, merchant by merchant, oldest first',
    },
    { key: { 'pass.appleDueAt': 1 }, sparse: true, reason: 'passes whose phones were not told of a change' },
    { key: { 'pass.issueDueAt': 1 }, sparse: true, reason: 'missing passes whose workflow is lost' },
    { key: { 'expiry.slice': 1, 'expiry.at': 1 }, sparse: true, reason: 'members by their next expiry, in slices' },
    { key: { merchantId: 1, tags: 1, createdAt: -1, _id: -1 }, reason: 'whether a tag is still in use; campaigns' },
  ],
  emails: [],
  externalIds: [
    {
      key: { merchantId: 1, externalId: 1 },
      reason: 'scans and `serial`: the member with this id in any program of a merchant',
    },
    { key: { code: 1 }, reason: 'new member codes are no external ids' },
  ],
  memberSearchWords: [
    {
      key: { merchantId: 1, level: 1, word: 1 },
      reason: '`q`: a range on a scalar after equalities costs only what matches in the level',
    },
  ],
  counters: [],
  expiries: [{ key: { merchantId: 1 }, reason: 'when the points of each program of a merchant expire' }],
  tags: [{ key: { merchantId: 1, tag: 1 }, unique: true, reason: 'all tags of a merchant in their order' }],
  ledger: [
    {
      key: { memberId: 1, memberVersion: -1 },
      unique: true,
      reason: 'the ledger of a member, newest first; one row a version',
    },
    {
      key: { 'earning.memberId': 1, 'earning.soldAt': 1 },
      sparse: true,
      reason: 'recent earnings of a member, for the limits of earning',
    },
    {
      key: { memberId: 1, reference: 1, memberVersion: -1 },
      partialFilterExpression: { reference: { $exists: true } },
      reason: "a member's entries with a till's reference, newest first",
    },
  ],
  idempotencyKeys: [
    { key: { memberId: 1 }, sparse: true, reason: 'the enrollments of a member, for its export and erasure' },
    { key: { createdAt: 1 }, expireAfterSeconds: days(3), reason: 'keys are kept longer than the 24 hours promised' },
  ],
  events: [
    { key: { state: 1, shard: 1, dueAt: 1 }, reason: 'due events for the relay, oldest first' },
    { key: { merchantId: 1, sequence: 1 }, reason: 'the feed, and events without a number yet' },
    { key: { merchantId: 1, occurredAt: 1, _id: 1 }, reason: 'replay of a range' },
    { key: { pushDueAt: 1 }, sparse: true, reason: 'late pushes whose workflow is lost' },
    { key: { memberId: 1 }, sparse: true, reason: 'the events about a member, for its export and erasure' },
    { key: { occurredAt: 1 }, expireAfterSeconds: days(90), reason: 'the archive is kept 90 days' },
  ],
  classUpdates: [],
  stats: [{ key: { merchantId: 1, month: 1 }, reason: 'the overview of a merchant' }],
  deliveries: [
    { key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the log, newest first' },
    { key: { merchantId: 1, subscriptionId: 1, createdAt: -1, _id: -1 }, reason: 'the log of one subscription' },
    { key: { merchantId: 1, eventType: 1, createdAt: -1, _id: -1 }, reason: 'the log of one event type' },
    {
      key: { merchantId: 1, success: 1, createdAt: -1, _id: -1 },
      reason: 'the log of failed or successful deliveries',
    },
    { key: { eventId: 1 }, reason: 'the log of one event' },
    { key: { memberId: 1, createdAt: -1, _id: -1 }, sparse: true, reason: 'the log of one member' },
    { key: { dueGroup: 1, dueAt: 1 }, sparse: true, reason: 'a queue of deliveries, longest due first' },
    { key: { root: 1 }, sparse: true, reason: 'the outcome of an event in its replays' },
    { key: { createdAt: 1 }, expireAfterSeconds: days(30), reason: 'the log is kept 30 days' },
  ],
  waitingSubscriptions: [{ key: { shard: 1 }, reason: 'subscriptions with queued deliveries' }],
  subscriptions: [
    { key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the list; the receivers of an event' },
    { key: { 'health.failingSince': 1 }, reason: 'subscriptions whose receivers fail, longest first' },
    { key: { 'health.disabledReason': 1 }, sparse: true, reason: 'subscriptions that the service disabled' },
  ],
  timeline: [
    { key: { memberId: 1, occurredAt: -1, _id: -1 }, reason: 'the timeline of a member, newest first' },
    { key: { occurredAt: 1 }, expireAfterSeconds: days(400), reason: 'a bound on size' },
  ],
  devices: [
    {
      key: { deviceLibraryIdentifier: 1, passTypeIdentifier: 1, serialNumber: 1 },
      unique: true,
      reason: 'one registration for each device and pass; the list of a device',
    },
    { key: { memberId: 1 }, reason: 'whom to push to' },
    { key: { recheckAt: 1 }, reason: 'phones that should have fetched by now' },
    { key: { stale: 1 }, sparse: true, reason: 'phones that never fetched, counted for the metrics' },
  ],
  removals: [
    { key: { memberId: 1 }, reason: 'recent removals of a pass' },
    { key: { reportAt: 1 }, sparse: true, reason: 'removals that are still to be reported' },
    { key: { reportedAt: 1 }, expireAfterSeconds: 3_600, reason: 'longer than a reported removal counts' },
  ],
  erasures: [
    { key: { dueAt: 1 }, sparse: true, reason: 'unfinished erasures, longest due first' },
    { key: { erasedAt: 1 }, sparse: true, reason: 'the erasures since a backup' },
  ],
  googleClears: [{ key: { dueAt: 1 }, reason: 'objects at Google that are to be cleared, longest due first' }],
  spentCodes: [],
  deviceLogs: [
    { key: { receivedAt: 1 }, expireAfterSeconds: days(7), reason: 'device logs are kept 7 days' },
    { key: { serialNumber: 1, receivedAt: -1 }, reason: 'the last lines about a pass' },
  ],
  apiKeys: [
    { key: { hash: 1 }, unique: true, reason: 'authentication' },
    { key: { merchantId: 1, createdAt: -1 }, reason: 'the list' },
    { key: { revokedAt: 1 }, expireAfterSeconds: days(endedKeyDays), reason: 'a merchant has a bounded number' },
    { key: { expiresAt: 1 }, expireAfterSeconds: days(endedKeyDays), reason: 'a merchant has a bounded number' },
  ],
  roles: [{ key: { merchantId: 1, _id: 1 }, reason: 'the list, and how many there are' }],
  users: [
    { key: { merchantId: 1, email: 1 }, reason: 'the list; whether an address is a user already' },
    { key: { email: 1 }, reason: 'the users of a sign-in link' },
    { key: { 'identity.sub': 1 }, sparse: true, reason: 'sign-in by the OpenID provider' },
  ],
  sessions: [
    { key: { userId: 1 }, reason: 'the sessions that end with their user' },
    { key: { endsAt: 1 }, expireAfterSeconds: 0, reason: 'sessions are removed when they have expired' },
  ],
  signInLinks: [
    { key: { email: 1 }, reason: 'the links that sign-out everywhere voids' },
    { key: { expiresAt: 1 }, expireAfterSeconds: 0, reason: 'links are removed when they have expired' },
  ],
  audit: [
    { key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the list, newest first' },
    { key: { merchantId: 1, targetId: 1, createdAt: -1, _id: -1 }, reason: 'the changes of one target' },
    { key: { merchantId: 1, 'actor.id': 1, createdAt: -1, _id: -1 }, reason: 'what somebody did' },
    { key: { merchantId: 1, action: 1, createdAt: -1, _id: -1 }, reason: 'the actors of one action' },
    { key: { createdAt: 1 }, expireAfterSeconds: days(400), reason: 'the audit is kept 400 days' },
  ],
  batches: [
    { key: { merchantId: 1, startedAt: -1, _id: -1 }, reason: 'the list, newest first' },
    { key: { merchantId: 1, phase: 1 }, reason: 'the unfinished batches of a merchant, and their waiting rows' },
    { key: { merchantId: 1, kind: 1, startedAt: -1, _id: -1 }, reason: 'the list of one kind; the campaigns of a day' },
    { key: { phase: 1, startedAt: 1 }, reason: 'unfinished batches, to find lost workflows' },
    { key: { rowsUntil: 1 }, sparse: true, reason: 'batches whose rows are to be removed' },
    { key: { unissued: 1 }, sparse: true, reason: 'finished imports that still have passes to issue' },
    { key: { repairs: 1 }, sparse: true, reason: 'the imports that repaired another' },
  ],
  importChunks: [
    { key: { batchId: 1, chunk: 1 }, unique: true, reason: 'the chunks of a batch in their order, each stored once' },
    { key: { marks: 1 }, sparse: true, reason: 'the rows about a person, for its export and erasure' },
  ],
  batchTargets: [
    { key: { batchId: 1, chunk: 1 }, unique: true, reason: 'the chunks of a batch in their order, each stored once' },
    { key: { ids: 1 }, reason: 'the lists that a member is in, for its export and erasure' },
  ],
  mails: [
    { key: { memberId: 1 }, sparse: true, reason: 'the mails about a member, to erase them' },
    { key: { merchantId: 1, createdAt: -1 }, reason: 'the mails of a merchant, newest first' },
    { key: { dueAt: 1 }, sparse: true, reason: 'mails whose workflow is lost' },
    { key: { mark: 1 }, sparse: true, reason: 'what waits for the confirmation of an address, to erase it' },
    { key: { expiresAt: 1 }, expireAfterSeconds: 0, reason: 'an address that nobody confirms is not kept' },
    { key: { createdAt: 1 }, expireAfterSeconds: days(30), reason: 'a mail is kept 30 days' },
  ],
  mailCounts: [
    { key: { merchantId: 1 }, reason: 'the removal of a merchant' },
    { key: { expiresAt: 1 }, expireAfterSeconds: 0, reason: 'counts are kept for an hour' },
  ],
  nonces: [{ key: { receivedAt: 1 }, expireAfterSeconds: days(30), reason: 'a nonce counts once' }],
  probes: [],
};

/**
 * The collections that changes, imports, publishing and deliveries write to. The service is down while one of them
 * accepts no writes.
 */
export const hotCollections = [
  'members',
  'emails',
  'externalIds',
  'memberSearchWords',
  'counters',
  'ledger',
  'idempotencyKeys',
  'events',
  'stats',
  'deliveries',
  'waitingSubscriptions',
  'timeline',
  'devices',
  'batches',
  'importChunks',
] as const satisfies readonly CollectionName[];

export const collectionNames = Object.keys(indexes) as CollectionName[];
