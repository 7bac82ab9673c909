// The event types, their data, and the envelope (docs/interface.md, sections 6.2 and 6.4). `memberVersion` grows
// by one with each change of the member, so that receivers can order events and notice a gap.
import { z } from 'zod';
import { batch, importCounts } from '../batches/batches.schema.js';
import { campaign } from '../batches/campaigns.schema.js';
import { memberPatch, memberSource, memberStatus } from '../members/members.schema.js';
import { ledgerType, saleFacts, transaction } from '../points/ledger.schema.js';
import { passUpdate, platform, walletMode } from '../shared/passUpdate.schema.js';

const merchantId = z.string().describe('the merchant of the subscription');
const test = z.boolean().optional().describe('true in a test delivery, and absent otherwise');

/** What events about a member have alike. */
export const aboutMember = z.object({
  memberId: z.string().describe('one person in one program'),
  memberCode: z.string().describe('the Member ID that people see'),
  programId: z.string().describe('the program of the member'),
  merchantId,
  memberVersion: z.int().describe('grows by one with each change of the member: order by it'),
  test,
});

const aboutPass = aboutMember.extend({
  serialNumber: z.string().describe('of the pass; not for people'),
  platform: platform.describe('the wallet'),
});

const kind = batch.shape.kind.describe('what the batch does');
const programId = batch.shape.programId.describe('the program, where the batch has one');
const passIssuance = batch.shape.passIssuance.describe('how many passes were issued in each wallet');
const times = {
  startedAt: batch.shape.startedAt.describe('when it began'),
  finishedAt: z.iso.datetime().describe('when it ended'),
};

const batchResult = z.object({
  batchId: z.string().describe('as in `GET /merchants/me/batches/{id}`'),
  kind,
  programId,
  merchantId,
  counts: importCounts
    .omit({ leftOut: true })
    .describe('rows of an import, deliveries of a replay, passes of a rebuild, people of a `cards.mail`'),
  passIssuance,
  ...times,
  quiet: z.boolean().optional().describe('an import without `member.created` and `pass.created` for its rows'),
  test,
});

/** What events say of the ledger entry of their change (docs/interface.md#28-ledger-entry). */
const { field, previous, current, delta, tier, previousTier, changeMessage, rewardId, actor } = transaction.shape;
const entryNames = {
  transactionId: z.string().describe('the ledger entry of the change'),
  transactionType: ledgerType.describe('the kind of the ledger entry'),
};
export const balanceChange = z.object({
  field,
  previous,
  current,
  tier,
  previousTier,
  tierUpgraded: z.boolean().exactOptional().describe('true when the change reached a higher tier'),
  changeMessage,
  actor: actor.describe('who made the change'),
  ...saleFacts,
});
const entry = { ...entryNames, ...balanceChange.shape };

/** Why the service disabled a subscription. */
export const disabledReason = z.enum(['gone', 'failing']);
export type DisabledReason = z.infer<typeof disabledReason>;

const pushed = passUpdate.nullable().describe('what the wallets answered; null when they did not confirm in time');

export const eventData = {
  'member.created': aboutMember.extend({
    email: z.string().optional().describe('as it was entered'),
    firstName: z.string().optional().describe('as it was entered'),
    lastName: z.string().optional().describe('as it was entered'),
    source: memberSource.describe('the way by which the member came'),
    attribution: z
      .record(z.string(), z.string())
      .describe('the campaign parameters of the visit, such as `utm_source`'),
    passIssuance: z
      .object({ apple: z.boolean(), google: z.boolean() })
      .describe('the wallets that took the pass; `pass.created` follows for the others'),
  }),
  'member.updated': aboutMember.extend({
    changed: z
      .array(z.enum([...memberPatch.keyof().options, 'tags', 'status']))
      .describe('the names of the changed fields'),
    status: memberStatus.describe('after the change'),
    previousStatus: memberStatus.optional().describe('before a change of the status'),
    reason: z.string().optional().describe('the note of a change of the status'),
    tags: z.array(z.string()).describe('all tags after the change'),
    passUpdate: pushed.optional(),
  }),
  'member.deleted': aboutMember.pick({ memberId: true, programId: true, merchantId: true, test: true }),
  'points.changed': aboutMember.extend({
    ...entry,
    delta,
    reason: z.literal('expired').optional().describe('only when points expired'),
    reversalOf: z
      .object({ transactionId: z.string(), type: ledgerType })
      .optional()
      .describe('only of a reversal: the ledger entry that it reversed'),
    passUpdate: pushed,
  }),
  'reward.redeemed': aboutMember.extend({
    ...entry,
    goal: z.int().describe('the price of the reward'),
    rewardId,
    rewardName: z.string().optional().describe('when the request named the reward'),
    passUpdate: pushed,
  }),
  'pass.created': aboutPass.extend({ mode: walletMode.describe('stub: nothing was sent to the wallet') }),
  'pass.installed': aboutPass,
  'pass.updated': aboutPass.extend({}),
  'pass.removed': aboutPass.extend({}),
  'pass.scanned': aboutMember.extend({
    code: z.string().describe('as it was read'),
    scannedBy: z.string().describe('the till, as the scan named it'),
    actor: actor.describe('who scanned'),
  }),
  'campaign.sent': z.object({
    campaignId: z.string().describe('as in `GET /merchants/me/campaigns/{id}`'),
    merchantId,
    programId,
    tags: campaign.shape.tags.describe('only members with all of these tags were reached'),
    audience: campaign.shape.audience,
    message: campaign.shape.message.describe('what the lock screens showed'),
    counts: campaign.shape.counts.describe('members by outcome'),
    ...times,
    test,
  }),
  'webhook.disabled': z.object({
    subscriptionId: z.string().describe('the disabled subscription'),
    url: z.string().describe('its receiver'),
    reason: disabledReason.describe('`gone`: the receiver answered 410; `failing`: five days without a success'),
    failingSince: z.iso.datetime().describe('the first failure after the last success'),
    test,
  }),
  'batch.completed': batchResult,
  'batch.failed': batchResult.extend({ reason: z.string().describe('why it failed, or that it was cancelled') }),
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

/**
 * The fields that envelopes have alike (docs/interface.md#62-envelope); `source` and `datacontenttype` make it a
 * CloudEvents 1.0 envelope too.
 */
export const anyEnvelope = z.object({
  specversion: z.literal('1.0'),
  id: z.string().describe('as `eventId`'),
  source: z.string().describe('this service'),
  datacontenttype: z.literal('application/json'),
  time: z.iso.datetime().describe('as `occurredAt`'),
  eventId: z.string().describe('the same in every retry and replay: skip the ones you know'),
  occurredAt: z.iso.datetime().describe('when the change was made'),
  tenantId: z.string().describe('the merchant'),
  sourceService: z.string().describe('this service'),
});

export const envelopeOf = (type: EventType) =>
  z.intersection(
    anyEnvelope,
    z.object({ type: z.literal(`cards.service.${type}`), event: z.literal(type), data: eventData[type] }),
  );

/** The envelope of any event. */
export const envelope = anyEnvelope.extend({
  type: z.string(),
  event: eventType,
  data: z.record(z.string(), z.unknown()),
});
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
