// What MongoDB holds: the shape of every collection and its indexes as data, each with its reason. Every query carries the
// merchant or a business key; nothing here is ever scanned. Migration creates the indexes and stops the boot if one
// that guards uniqueness is missing.
import type { Binary, IndexDirection } from 'mongodb';
import type { BatchKind, BatchPhase, ImportCounts, ImportOutcome } from './batches.js';
import type { EventType } from './events.js';
import type { Actor, MemberStatus, Person } from './members.js';
import type { PassUpdate, Platform } from './passUpdate.js';
import type { Permission } from './permissions.js';
import type { Program } from './programs.js';
import type { DeliveryState, DisabledReason } from './webhooks.js';

export type ProgramRow = Program;

export interface MemberRow {
  _id: string;
  merchantId: string;
  programId: string;
  memberCode: string;
  serialNumber: string;
  firstName?: string;
  lastName?: string;
  email?: string;
  phone?: string;
  field: string;
  balance: number;
  lifetimePoints: number;
  tier?: string;
  tags: string[];
  status: MemberStatus;
  /** Grows by one with each change; every write compares it. */
  version: number;
  pass: {
    /** Part of the public address of the member's web card. */
    token: string;
    /** What Wallet sends as `Authorization: ApplePass <token>`. */
    authenticationToken: string;
    tag: Date;
    modifiedAt: Date;
    message?: string;
    messageSequence: number;
    appleIssuedAt?: Date;
    googleIssuedAt?: Date;
    googleSaved?: boolean;
    googleSaveUrl?: string;
  };
  deviceCount: number;
  redeemedCount: number;
  transactionCount: number;
  source: 'api' | 'console' | 'import' | 'public';
  attribution: Record<string, string>;
  createdAt: Date;
  updatedAt: Date;
}

/**
 * Who has an email in a program, under `<programId>:<email>`. A row of its own, made and removed with the address: a unique
 * index over a field that changes would not guard it on the embedded engine, which never frees the old value and lets two
 * transactions take the new one.
 */
export interface EmailRow {
  _id: string;
  merchantId: string;
  memberId: string;
  memberCode: string;
}

/** The search index: one row for each word of a member that `q` can begin with. */
export interface MemberTokenRow {
  _id: string;
  merchantId: string;
  token: string;
  memberId: string;
  programId: string;
  createdAt: Date;
}

/**
 * Totals that lists show, kept where members are created and repaired by a scheduled recount; under `feed:<merchantId>` the
 * last number that the merchant's feed gave; and under `made:<owner>` how many rows were ever made under a cap.
 */
export interface CounterRow {
  _id: string;
  merchantId: string;
  members?: number;
  sequence?: number;
  made?: number;
}

/** How many times as long as otherwise gestures take beside bulk work; one row, written while it is too long. */
export interface SlowdownRow {
  _id: string;
  times: number;
  at: Date;
}

export const slowdownId = 'gestures';

/** The tags in use, one row a merchant and tag, so that listing them reads no member. */
export interface TagRow {
  _id: string;
  merchantId: string;
  tag: string;
}

export interface TransactionRow {
  _id: string;
  merchantId: string;
  memberId: string;
  programId: string;
  eventId?: string;
  fingerprint?: string;
  type: 'initial' | 'adjust' | 'redeem';
  field: string;
  previous: number;
  current: number;
  delta: number;
  tier?: string;
  previousTier?: string;
  changeMessage?: string;
  actor: Actor;
  memberVersion: number;
  createdAt: Date;
}

export interface GestureRow {
  _id: string;
  merchantId: string;
  fingerprint: string;
  eventId: string;
  createdAt: Date;
  /** Status and exact bytes of the answer; absent while the first request is still running. */
  response?: { status: number; body: Binary };
}

export interface EventRow {
  _id: string;
  merchantId: string;
  type: EventType;
  memberId?: string;
  programId?: string;
  occurredAt: Date;
  data: Record<string, unknown>;
  /**
   * What the wallets must do before the event can be told: issue the passes, push this version, refresh what Google has of
   * the member, or bring the program's class there up to date.
   */
  wallet?: 'issue' | 'push' | 'refresh' | 'class';
  /** Recorded once by whoever told the wallets; null when the wait was over before they confirmed. */
  passUpdate?: PassUpdate | null;
  state: 'new' | 'published';
  /** Who works on it until `dueAt`; from then on the relay may take it. */
  holder: string;
  /** Which attempt of the holder; a newer one replaces it. */
  fence?: string;
  dueAt: Date;
  shard: number;
  envelope?: Binary;
  publishedAt?: Date;
  /** Place in the merchant's feed: 0 while it waits for one, absent on what the feed never shows (activities/feed.ts). */
  sequence?: number;
  /** Work for the wallets that nobody is told of. */
  silent?: true;
  /** A test event goes to this subscription alone. */
  onlySubscriptionId?: string;
  /** The trace of the request that made it, where traces are kept. */
  traceparent?: string;
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
  /** Which attempt of its workflow is at work; a newer one replaces it. */
  fence?: string;
  /** The run of the workflow and the number of the activity's attempt behind the fence: an older one never takes it back. */
  carrier?: { run: string; attempt: number };
  replayOf?: string;
  /** Of a replay, and of a replay of a replay: the id that the first delivery of its event to this subscription has or would have. */
  root?: string;
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
  retryPolicy: { maxAttempts: number; backoffMs: number };
  /** Newest first, sealed under SECRETS_KEY; the second lives until `expiresAt`. */
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
  /** The version last told in a list answer, and the `lastUpdated` of that answer. */
  toldTag?: Date;
  toldIn?: Date;
  lastListedAt?: Date;
  lastFetchedAt?: Date;
  fetchedTag?: Date;
  lastPush?: { at: Date; status: number; tag: Date; reason?: string };
  /** When to look whether the pushed version was fetched, and how often it was pushed again; see repush.ts. */
  recheckAt?: Date;
  recheckRound?: number;
  stale?: boolean;
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
}

export interface RoleRow {
  _id: string;
  merchantId: string | null;
  name: string;
  permissions: Permission[];
}

export interface MerchantRow {
  _id: string;
  name: string;
  createdAt: Date;
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
  dryRun?: boolean;
  /** Of the rows of an import, or of the list of whom or what another kind is for. */
  chunks?: number;
  /** The list, once it is drawn up; see targets.ts. */
  listId?: string;
  campaign?: { message: string; tags: string[] };
  replay?: { since: Date; until: Date; only: 'failed' | 'all' };
  /** Of an import: its first line, a hash of program and file, and the last sign of life of its upload. */
  header?: string[];
  fingerprint?: string;
  uploadSeenAt?: Date;
  /** Of an import: created members whose passes were issued and whose events went out. */
  carried?: number;
}

/** One row of an import as its file had it, read but not yet carried out. */
export interface ImportRow {
  row: number;
  /** The cells as they came, for errors.csv. */
  cells: string[];
  person?: Person;
  /** Why it fails; a row has this or a person. */
  reason?: string;
  /** Of a dry run: an earlier row of the file has this email. */
  repeats?: true;
}

/** What became of a row, decided once. */
export interface ImportRowOutcome {
  row: number;
  outcome: ImportOutcome;
  memberId?: string;
  memberCode?: string;
  eventId?: string;
  reason?: string;
}

/** Some rows of an import, from the file to their outcome, in one document so that their outcome is one write; TTL. */
export interface BatchChunkRow {
  _id: string;
  batchId: string;
  merchantId: string;
  chunk: number;
  rows: ImportRow[];
  outcomes?: ImportRowOutcome[];
  /** Written with the outcomes: how many rows of the file had each of them, up to this chunk's last. */
  soFar?: Record<ImportRowOutcome['outcome'], number>;
  /** Members of these rows whose passes were issued, once the events went out. */
  carried?: { apple: number; google: number };
  createdAt: Date;
}

/** Some of the ids that a batch is for, and whether what became of them is in its counts; TTL. */
export interface BatchTargetsRow {
  /** `<listId>:<chunk>` */
  _id: string;
  batchId: string;
  merchantId: string;
  ids: string[];
  counted?: true;
  createdAt: Date;
}

/** Google's callbacks count once each (decisions.md "Google callback"). */
export interface NonceRow {
  _id: string;
  receivedAt: Date;
}

export interface IndexSpec {
  key: Record<string, IndexDirection>;
  unique?: true;
  /** Holds only the rows that have the field. */
  sparse?: true;
  expireAfterSeconds?: number;
  /** Why the index is there: the query or the rule that it serves. */
  reason: string;
}

const days = (count: number): number => count * 86_400;

export interface Rows {
  merchants: MerchantRow;
  programs: ProgramRow;
  members: MemberRow;
  emails: EmailRow;
  memberTokens: MemberTokenRow;
  counters: CounterRow;
  slowdowns: SlowdownRow;
  tags: TagRow;
  transactions: TransactionRow;
  gestures: GestureRow;
  events: EventRow;
  deliveries: DeliveryRow;
  subscriptions: SubscriptionRow;
  timeline: TimelineRow;
  devices: DeviceRow;
  deviceLogs: DeviceLogRow;
  apiKeys: ApiKeyRow;
  roles: RoleRow;
  batches: BatchRow;
  batchRows: BatchChunkRow;
  batchTargets: BatchTargetsRow;
  nonces: NonceRow;
}

export type CollectionName = keyof Rows;

export const indexes: Record<CollectionName, readonly IndexSpec[]> = {
  merchants: [],
  programs: [
    { key: { slug: 1 }, unique: true, reason: 'a public page finds its program by slug' },
    { key: { merchantId: 1, _id: 1 }, reason: 'the list of a merchant' },
  ],
  members: [
    { key: { merchantId: 1, memberCode: 1 }, unique: true, reason: 'codes are unique in a merchant; `serial`; scans' },
    { key: { serialNumber: 1 }, unique: true, reason: "Apple's web service and legacy passes find by serial" },
    { key: { 'pass.token': 1 }, unique: true, reason: 'the web card' },
    { key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the list, newest first' },
    { key: { merchantId: 1, programId: 1, createdAt: -1, _id: -1 }, reason: 'the list of one program; campaigns' },
    { key: { merchantId: 1, tags: 1 }, reason: 'whether a tag is still in use; campaigns' },
  ],
  emails: [],
  memberTokens: [
    { key: { merchantId: 1, token: 1 }, reason: '`q`: a range on a scalar after an equality costs only what matches' },
  ],
  counters: [],
  slowdowns: [],
  tags: [{ key: { merchantId: 1, tag: 1 }, unique: true, reason: 'all tags of a merchant in their order' }],
  transactions: [
    {
      key: { memberId: 1, memberVersion: -1 },
      unique: true,
      reason: 'the ledger of a member, newest first; one row a version',
    },
  ],
  gestures: [
    { key: { createdAt: 1 }, expireAfterSeconds: days(3), reason: 'keys are kept longer than the 24 hours promised' },
  ],
  events: [
    { key: { state: 1, shard: 1, dueAt: 1 }, reason: 'the relay takes what is due, oldest first' },
    { key: { merchantId: 1, sequence: 1 }, reason: 'the feed, and what is not in it yet' },
    { key: { merchantId: 1, occurredAt: -1 }, reason: 'replay of a range' },
    { key: { occurredAt: 1 }, expireAfterSeconds: days(90), reason: 'the archive is kept 90 days' },
  ],
  deliveries: [
    { key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the log, newest first' },
    { key: { merchantId: 1, subscriptionId: 1, createdAt: -1, _id: -1 }, reason: 'the log of one subscription' },
    { key: { merchantId: 1, eventType: 1, createdAt: -1, _id: -1 }, reason: 'the log of one event type' },
    { key: { merchantId: 1, success: 1, createdAt: -1, _id: -1 }, reason: 'the log of what failed, or succeeded' },
    { key: { root: 1 }, sparse: true, reason: 'what became of an event in its replays' },
    { key: { createdAt: 1 }, expireAfterSeconds: days(30), reason: 'the log is kept 30 days' },
  ],
  subscriptions: [{ key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the list; whom to tell of an event' }],
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
  ],
  deviceLogs: [
    { key: { receivedAt: 1 }, expireAfterSeconds: days(7), reason: 'device logs are kept 7 days' },
    { key: { serialNumber: 1, receivedAt: -1 }, reason: 'the last lines about a pass' },
  ],
  apiKeys: [
    { key: { hash: 1 }, unique: true, reason: 'authentication' },
    { key: { merchantId: 1, createdAt: -1 }, reason: 'the list' },
  ],
  roles: [],
  batches: [
    { key: { merchantId: 1, startedAt: -1, _id: -1 }, reason: 'the list, newest first' },
    { key: { phase: 1, startedAt: 1 }, reason: 'those that are not over, to see that they are worked on' },
  ],
  batchRows: [
    { key: { batchId: 1, chunk: 1 }, unique: true, reason: 'the chunks of a batch in their order, each stored once' },
    { key: { createdAt: 1 }, expireAfterSeconds: days(7), reason: 'rows hold personal data: kept 7 days' },
  ],
  batchTargets: [{ key: { createdAt: 1 }, expireAfterSeconds: days(7), reason: 'a batch is over by then' }],
  nonces: [{ key: { receivedAt: 1 }, expireAfterSeconds: days(30), reason: 'a nonce counts once' }],
};

export const collectionNames = Object.keys(indexes) as CollectionName[];
