// Serialises events that had to wait for the wallets. The bytes are stored once, so the data of an event cannot change
// later (docs/decisions/events-are-leased.md).
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { WorkerDeps } from '../workerDeps.js';
import { markIssueDue } from './lostRetries.writes.js';
import { serialisedEnvelope } from './newEvent.rules.js';

/** The `passIssuance` of a `member.created` event; both wallets are false when the member no longer exists. */
export const issuanceOf = (pass: MemberRow['pass'] | undefined) => ({
  passIssuance: { apple: pass?.appleIssuedAt !== undefined, google: pass?.googleIssuedAt !== undefined },
});

/** Serialises the events that have no bytes yet, and stores the bytes. Returns all events with their bytes. */
export async function serialiseEnvelopes(deps: WorkerDeps, events: EventRow[]): Promise<EventRow[]> {
  const open = events.filter((event) => !event.envelope);
  if (open.length === 0) return events;
  const issuance = await readIssuances(deps, open);
  const made = new Map(open.map((event) => [event._id, serialisedEnvelope(event, issuance.get(event._id))]));
  const matched = await writeBulk(
    deps,
    [...made].map(([_id, bytes]) => update(deps, 'events', { _id, envelope: { $exists: false } }, { $set: bytes })),
  );
  if (matched === made.size) return events.map((event) => ({ ...event, ...made.get(event._id) }));
  return deps.collections.events.find({ _id: { $in: events.map((event) => event._id) } }).toArray();
}

/**
 * `passIssuance` of the enrollment events, by event id. It is known only after the passes were issued. Members that
 * still lack a pass are marked.
 */
async function readIssuances(deps: WorkerDeps, events: EventRow[]): Promise<Map<string, Record<string, unknown>>> {
  const enrolled = events.filter((event) => event.passAction === 'issue');
  if (enrolled.length === 0) return new Map();
  const ids = enrolled.flatMap((event) => event.memberId ?? []);
  const members = await deps.collections.members.find({ _id: { $in: ids } }, { projection: { pass: 1 } }).toArray();
  const passes = new Map(members.map((member) => [member._id, member.pass]));
  const lacksPass = ({ pass }: Pick<MemberRow, 'pass'>) => !pass.appleIssuedAt || !pass.googleIssuedAt;
  await markIssueDue(
    deps,
    members.filter(lacksPass).map(({ _id }) => _id),
  );
  return new Map(enrolled.map((event) => [event._id, issuanceOf(passes.get(event.memberId ?? ''))]));
}
