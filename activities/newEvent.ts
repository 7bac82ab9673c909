// The outgoing event of a change, as its transaction writes it, with its bytes where nothing about it can change any more.
// `dueAt` is the moment from which the relay may take it: a few seconds ahead while a workflow of its own is being started,
// now when none is.
import { Binary } from 'mongodb';
import type { EventRow, MemberRow } from '../schemas/collections.js';
import { type EventType, envelopeBytes, shardOf } from '../schemas/events.js';
import type { PassUpdate } from '../schemas/passUpdate.js';
import type { Store } from './deps.js';

/** How long a workflow that was just asked for may take to begin. */
export const graceMs = 5_000;

export interface NewEvent {
  eventId: string;
  type: EventType;
  member: MemberRow;
  data: Record<string, unknown>;
  holder: string | null;
  wallet?: EventRow['wallet'];
  passUpdate?: PassUpdate;
  silent?: true;
}

/** What every event about a member says of it. */
function aboutMember(member: MemberRow): Record<string, unknown> {
  return {
    memberId: member._id,
    memberCode: member.memberCode,
    programId: member.programId,
    merchantId: member.merchantId,
    memberVersion: member.version,
  };
}

export function newEvent(store: Store, event: NewEvent): EventRow {
  const now = store.now();
  const traceparent = store.tracing.current();
  const row: EventRow = {
    _id: event.eventId,
    merchantId: event.member.merchantId,
    type: event.type,
    memberId: event.member._id,
    programId: event.member.programId,
    occurredAt: now,
    data: { ...aboutMember(event.member), ...event.data },
    ...(event.wallet && { wallet: event.wallet }),
    ...(event.passUpdate && { passUpdate: event.passUpdate }),
    ...(event.silent && { silent: event.silent }),
    ...(traceparent && { traceparent }),
    state: 'new',
    holder: event.holder ?? '',
    dueAt: new Date(now.getTime() + (event.holder ? graceMs : 0)),
    shard: shardOf(event.member.merchantId, store.config.RELAY_SHARDS),
  };
  const awaitsWallets = row.wallet === 'issue' || (row.wallet === 'push' && !row.passUpdate);
  return awaitsWallets ? row : { ...row, ...frozen(row) };
}

const saysPassUpdate: ReadonlySet<string> = new Set(['points.changed', 'reward.redeemed', 'member.updated']);

/** The bytes of an event, with what the wallets were told; from now on it waits for its place in the feed. */
export function frozen(event: EventRow, told: Record<string, unknown> = {}): { envelope: Binary; sequence?: number } {
  const passUpdate =
    event.wallet === 'push' && saysPassUpdate.has(event.type) ? { passUpdate: event.passUpdate ?? null } : {};
  const data = { ...event.data, ...passUpdate, ...told };
  return {
    envelope: new Binary(envelopeBytes({ ...event, eventId: event._id, data })),
    ...(!event.silent && { sequence: 0 }),
  };
}
