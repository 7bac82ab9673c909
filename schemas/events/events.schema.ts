// The event types, their data, and the envelope (docs/interface.md, sections 6.2 and 6.4). `memberVersion` grows
// by one with each change of the member, so that receivers can order events and notice a gap.
import { z } from 'zod';
import { batch, importCounts } from '../batches/batches.schema.js';
import { campaign } from '../batches/campaigns.schema.js';
import { memberPatch, memberSource, memberStatus } from '../members/members.schema.js';
import { ledgerType, saleFacts, transaction } from '../points/ledger.schema.js';
import { passUpdate, platform, walletMode } from '../shared/passUpdate.schema.js';

const aboutMember = z.object({
  memberId: z.string(),
  memberCode: z.string(),
  programId: z.string(),
  merchantId: z.string(),
  memberVersion: z.int(),
  test: z.boolean().optional(),
});

const aboutPass = aboutMember.extend({ serialNumber: z.string(), platform });

const { kind, programId, passIssuance, startedAt } = batch.shape;
const times = { startedAt, finishedAt: z.iso.datetime() };

const batchResult = z.object({
  batchId: z.string(),
  kind,
  programId,
  merchantId: z.string(),
  counts: importCounts.omit({ leftOut: true }),
  passIssuance,
  ...times,
  /** An import without `member.created` and `pass.created` events for its rows. */
  quiet: z.boolean().optional(),
  test: z.boolean().optional(),
});

/** What events say of the ledger entry of their change (docs/interface.md#28-ledger-entry). */
const { field, previous, current, delta, tier, previousTier, changeMessage, rewardId, actor } = transaction.shape;
const entryNames = { transactionId: z.string(), transactionType: ledgerType };
export const balanceChange = z.object({
  field,
  previous,
  current,
  tier,
  previousTier,
  tierUpgraded: z.boolean().exactOptional(),
  changeMessage,
  actor,
  ...saleFacts,
});
const entry = { ...entryNames, ...balanceChange.shape };

/** Why the service disabled a subscription. */
export const disabledReason = z.enum(['gone', 'failing']);
export type DisabledReason = z.infer<typeof disabledReason>;

export const eventData = {
  'member.created': aboutMember.extend({
    email: z.string().optional(),
    firstName: z.string().optional(),
    lastName: z.string().optional(),
    source: memberSource,
    attribution: z.record(z.string(), z.string()),
    passIssuance: z.object({ apple: z.boolean(), google: z.boolean() }),
  }),
  'member.updated': aboutMember.extend({
    changed: z.array(z.enum([...memberPatch.keyof().options, 'tags', 'status'])),
    status: memberStatus,
    previousStatus: memberStatus.optional(),
    reason: z.string().optional(),
    tags: z.array(z.string()),
    passUpdate: passUpdate.nullable().optional(),
  }),
  'member.deleted': aboutMember.pick({ memberId: true, programId: true, merchantId: true, test: true }),
  'points.changed': aboutMember.extend({
    ...entry,
    delta,
    /** Only on an expiry. */
    reason: z.literal('expired').optional(),
    /** Only on a reversal: the ledger entry that it reversed. */
    reversalOf: z.object({ transactionId: z.string(), type: ledgerType }).optional(),
    passUpdate: passUpdate.nullable(),
  }),
  'reward.redeemed': aboutMember.extend({
    ...entry,
    goal: z.int(),
    rewardId,
    rewardName: z.string().optional(),
    passUpdate: passUpdate.nullable(),
  }),
  'pass.created': aboutPass.extend({ mode: walletMode }),
  'pass.installed': aboutPass,
  'pass.updated': aboutPass,
  'pass.removed': aboutPass,
  'pass.scanned': aboutMember.extend({ code: z.string(), scannedBy: z.string(), actor }),
  'campaign.sent': z.object({
    campaignId: z.string(),
    merchantId: z.string(),
    programId,
    ...campaign.pick({ tags: true, message: true, counts: true }).shape,
    ...times,
    test: z.boolean().optional(),
  }),
  'webhook.disabled': z.object({
    subscriptionId: z.string(),
    url: z.string(),
    reason: disabledReason,
    failingSince: z.iso.datetime(),
    test: z.boolean().optional(),
  }),
  'batch.completed': batchResult,
  'batch.failed': batchResult.extend({ reason: z.string() }),
} as const;

export type EventType = keyof typeof eventData;
export type EventData<T extends EventType> = z.infer<(typeof eventData)[T]>;

type AboutMember = keyof z.infer<typeof aboutMember>;
/** Those of the ledger entry, and the results of the wallets, which are known only when the event is published. */
type AddedLater = keyof typeof entryNames | 'passUpdate' | 'passIssuance';

export type MemberEventType = Exclude<
  EventType,
  'member.deleted' | 'webhook.disabled' | 'campaign.sent' | 'batch.completed' | 'batch.failed'
>;

/**
 * An event about a member as its producer creates it: the type, and the data without the fields that every such event
 * has.
 */
export type MemberEvent = {
  [T in MemberEventType]: { type: T; data: Omit<EventData<T>, AboutMember | AddedLater> };
}[MemberEventType];

export type MerchantEvent = {
  [T in Exclude<EventType, MemberEventType | 'member.deleted'>]: { type: T; data: EventData<T> };
}[Exclude<EventType, MemberEventType | 'member.deleted'>];

/** Whether the data of events of this type has `passUpdate`. */
export const carriesPassUpdate = (type: EventType): boolean => 'passUpdate' in eventData[type].shape;

export const eventTypes = Object.keys(eventData) as [EventType, ...EventType[]];

export const eventType = z.enum(eventTypes);

const sourceService = 'loyalty-pass-service';

interface Parts {
  type: z.ZodType<string>;
  event: z.ZodType<string>;
  data: z.ZodType<Record<string, unknown>>;
}

/**
 * The fields of an envelope (docs/interface.md#62-envelope); `source` and `datacontenttype` make it a CloudEvents 1.0
 * envelope too.
 */
const envelopeWith = <const P extends Parts>({ type, event, data }: P) =>
  z.object({
    specversion: z.literal('1.0'),
    id: z.string(),
    type: type as P['type'],
    source: z.string(),
    datacontenttype: z.literal('application/json'),
    time: z.iso.datetime(),
    event: event as P['event'],
    eventId: z.string(),
    occurredAt: z.iso.datetime(),
    tenantId: z.string(),
    sourceService: z.string(),
    data: data as P['data'],
  });

export const envelopeOf = (type: EventType) =>
  envelopeWith({ type: z.literal(`cards.service.${type}`), event: z.literal(type), data: eventData[type] });

/** The envelope of any event. */
export const envelope = envelopeWith({ type: z.string(), event: eventType, data: z.record(z.string(), z.unknown()) });
export type Envelope = z.infer<typeof envelope>;

export interface Occurrence {
  eventId: string;
  merchantId: string;
  type: string;
  occurredAt: Date;
  data: Record<string, unknown>;
}

/** The bytes that every attempt and every replay sends. An event is serialised once, when its data is final. */
export function envelopeBytes({ eventId, merchantId, type, occurredAt, data }: Occurrence): Buffer {
  const time = occurredAt.toISOString();
  const written: Omit<Envelope, 'event'> & { event: string } = {
    specversion: '1.0',
    id: eventId,
    type: `cards.service.${type}`,
    source: sourceService,
    datacontenttype: 'application/json',
    time,
    event: type,
    eventId,
    occurredAt: time,
    tenantId: merchantId,
    sourceService,
    data,
  };
  return Buffer.from(JSON.stringify(written));
}

/** The shard of a merchant's events. All events of a merchant have the same shard, so one relay processes them. */
export function shardOf(merchantId: string, shards: number): number {
  let hash = 0;
  for (const character of merchantId) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash % shards;
}
