// Builds every row of the outbox. The envelope of an event about a member is made here, unless it has to wait for the
// wallets; the envelope of an event about a merchant is made when it is published. The relay may take an event from
// `dueAt` on: 5 s ahead when a workflow is being started for it, now when there is none.
import { Binary } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import {
  carriesPassUpdate,
  type EventType,
  envelopeBytes,
  type MemberEvent,
  type MerchantEvent,
  shardOf,
} from '../../schemas/events/events.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import type { VisitCount } from '../../schemas/points/visits.rules.js';
import { deletedEventId, programIdOf } from '../../schemas/shared/ids.js';
import type { PassUpdate } from '../../schemas/shared/passUpdate.schema.js';
import { leaseTime } from './leaseTime.rules.js';

/** How long the start of an event's workflow may take before the relay may take the event. */
export const startGraceMs = 5_000;

/**
 * A change that only pushes the member's pass. It goes through the outbox like every change of a member, but
 * subscribers and the feed do not see it.
 */
export interface PushJob {
  type: 'pass.push';
  data: { changeMessage?: string };
}

export interface NewMemberEvent {
  eventId: string;
  event: MemberEvent | PushJob;
  member: MemberRow;
  /** The ledger entry of the change. */
  entry?: LedgerRow;
  /** The workflow that will process the event, or null for the relay. */
  leaseOwner: string | null;
  passAction?: EventRow['passAction'];
  mandatory?: true;
  passUpdate?: PassUpdate;
  targetsId?: string;
  initialPoints?: number;
  visit?: VisitCount | undefined;
}

/** The data that every event about a member contains. */
function aboutMember(member: MemberRow): Record<string, unknown> {
  return {
    memberId: member._id,
    memberCode: member.memberCode,
    programId: programIdOf(member.programId),
    merchantId: member.merchantId,
    memberVersion: member.version,
  };
}

type Outbox = Pick<EventRow, 'state' | 'leaseOwner' | 'dueAt' | 'shard'>;

function waiting(
  deps: Pick<Deps, 'now' | 'leaseNow' | 'config'>,
  merchantId: string,
  leaseOwner: string | null,
): Outbox {
  return {
    state: 'new',
    leaseOwner: leaseOwner ?? '',
    dueAt: new Date(leaseTime(deps).getTime() + (leaseOwner ? startGraceMs : 0)),
    shard: shardOf(merchantId, deps.config.RELAY_SHARDS),
  };
}

export function newMemberEvent(
  deps: Deps,
  {
    eventId,
    event,
    member,
    entry,
    leaseOwner,
    passAction,
    mandatory,
    passUpdate,
    targetsId,
    initialPoints,
    visit,
  }: NewMemberEvent,
): EventRow {
  const { merchantId, programId } = member;
  const traceparent = deps.tracing.current();
  const row: EventRow = {
    _id: eventId,
    merchantId,
    type: event.type,
    memberId: member._id,
    programId,
    occurredAt: deps.now(),
    data: {
      ...aboutMember(member),
      ...(entry && { transactionId: entry._id, transactionType: entry.type }),
      ...event.data,
    },
    ...(passAction && { passAction }),
    ...(mandatory && { mandatory }),
    ...(passUpdate && { passUpdate }),
    ...(targetsId !== undefined && { targetsId }),
    ...(initialPoints && { initialPoints }),
    ...(entry?.correction && { corrects: true as const }),
    ...(visit && { visit }),
    ...(event.type === 'pass.push' && { internal: true as const }),
    ...(traceparent && { traceparent }),
    ...waiting(deps, merchantId, leaseOwner),
  };
  const awaitsWallets = row.passAction === 'issue' || (row.passAction === 'push' && !row.passUpdate);
  return awaitsWallets ? row : { ...row, ...serialisedEnvelope(row) };
}

interface NewMerchantEvent {
  eventId: string;
  event: MerchantEvent;
  merchantId: string;
  programId?: string | undefined;
  occurredAt: Date;
  leaseOwner: string | null;
}

export function newMerchantEvent(
  deps: Deps,
  { eventId, event, programId, leaseOwner, ...given }: NewMerchantEvent,
): EventRow {
  return {
    _id: eventId,
    ...given,
    ...event,
    ...(programId && { programId }),
    ...waiting(deps, given.merchantId, leaseOwner),
  };
}

/**
 * The event of an erased member. Its bytes are the same each time it is built. Only its data contains the member id, so
 * that the row itself leaves no trace of the member.
 */
export function newDeletedEvent(
  deps: Deps,
  {
    _id: memberId,
    merchantId,
    programId,
    erasedAt,
  }: Pick<MemberRow, '_id' | 'merchantId' | 'programId'> & { erasedAt: Date },
): EventRow {
  const row: EventRow = {
    _id: deletedEventId(memberId),
    merchantId,
    type: 'member.deleted',
    programId,
    occurredAt: erasedAt,
    data: { memberId, programId: programIdOf(programId), merchantId },
    ...waiting(deps, merchantId, null),
  };
  return { ...row, ...serialisedEnvelope(row) };
}

interface NewTestEvent {
  eventId: string;
  type: EventType;
  merchantId: string;
  subscriptionId: string;
  data: Record<string, unknown>;
}

/**
 * A test event for one subscription. It is stored as published, so the relay does not take it: the caller starts its
 * delivery.
 */
export function newTestEvent(deps: Deps, { eventId, type, merchantId, subscriptionId, data }: NewTestEvent): EventRow {
  const now = deps.now();
  const row: EventRow = {
    ...{ _id: eventId, merchantId, type, occurredAt: now, data, internal: true },
    ...{ ...waiting(deps, merchantId, null), state: 'published', publishedAt: now, onlySubscriptionId: subscriptionId },
  };
  return { ...row, ...serialisedEnvelope(row) };
}

/**
 * Serialises the envelope of an event, with its `passUpdate` where the type has one. An event that is not internal also
 * gets sequence 0: it waits for its number in the feed.
 */
export function serialisedEnvelope(
  event: EventRow,
  additionalData: Record<string, unknown> = {},
): { envelope: Binary; sequence?: number } {
  const passUpdate =
    event.passAction === 'push' && event.type !== 'pass.push' && carriesPassUpdate(event.type)
      ? { passUpdate: event.passUpdate ?? null }
      : {};
  const data = { ...event.data, ...passUpdate, ...additionalData };
  return {
    envelope: new Binary(envelopeBytes({ ...event, eventId: event._id, data })),
    ...(!event.internal && { sequence: 0 }),
  };
}
