// What one decision makes of one member, as rows to be written in one transaction: its next version, the event that tells of
// it, and its line in the timeline. A gesture adds its claim and its ledger row; a campaign writes many steps at once.
import type { EventRow, MemberRow } from '../schemas/collections.js';
import { nextModified, nextTag, type PassUpdate } from '../schemas/passUpdate.js';
import type { Program } from '../schemas/programs.js';
import type { ChangeMember, Decision } from './changeMember.js';
import type { Store } from './deps.js';
import { newEvent } from './newEvent.js';
import { timelineRow } from './timelineRow.js';
import { insert, type Statement, update } from './transact.js';
import { hasAudience, modesOf, quietPassUpdate } from './walletModes.js';

export interface MemberStep {
  /** As it is after the step. */
  member: MemberRow;
  /** Known when nobody has to be told; undefined when a push has to be waited for. */
  passUpdate: PassUpdate | undefined;
  holder: string | null;
  /** Matches nothing when the member changed since it was read. */
  change: Statement;
  inserts: Statement[];
}

export interface StepOf {
  before: MemberRow;
  program: Program;
  decision: Decision;
  eventId: string;
  holderOf: ChangeMember['holderOf'];
}

export function stepOf(store: Store, { before, program, decision, eventId, holderOf }: StepOf): MemberStep {
  const member = after(before, decision, store.now());
  const modes = modesOf(store.walletModes, program);
  const quiet = !decision.wallet || !hasAudience(modes, member);
  const passUpdate = quiet ? quietPassUpdate(modes, member) : undefined;
  const holder = holderOf(eventId, passUpdate === undefined);
  const event: EventRow = newEvent(store, {
    eventId,
    type: decision.event.type,
    member,
    data: decision.event.data,
    holder,
    ...(decision.wallet && { wallet: 'push' as const }),
    ...(decision.refresh && { wallet: 'refresh' as const }),
    ...(passUpdate && { passUpdate }),
    ...(decision.event.silent && { silent: true as const }),
  });
  const line =
    decision.timeline && timelineRow(event, { memberId: member._id, outcome: 'success', ...decision.timeline });
  return {
    member,
    passUpdate,
    holder,
    change: changeStatement(store, before, { member, decision }),
    inserts: [
      ...(line ? [insert(store, 'timeline', line)] : []),
      insert(store, 'events', event),
      ...(decision.statements ?? []),
    ],
  };
}

function after(member: MemberRow, decision: Decision, now: Date): MemberRow {
  const changed: MemberRow = { ...member, ...decision.set, version: member.version + 1, updatedAt: now };
  for (const field of decision.unset ?? []) delete changed[field];
  if (decision.pass) changed.pass = { ...member.pass, ...decision.pass };
  if (!decision.wallet) return changed;
  changed.pass = {
    ...changed.pass,
    tag: nextTag(member.pass.tag, now),
    modifiedAt: nextModified(member.pass.modifiedAt, now),
  };
  if (decision.message) {
    changed.pass.message = decision.message;
    changed.pass.messageSequence = member.pass.messageSequence + 1;
  }
  return changed;
}

/** Only what changed is set: passes are issued and devices come and go beside this, without a new version. */
function changeStatement(
  store: Store,
  before: MemberRow,
  { member: changed, decision }: { member: MemberRow; decision: Decision },
): Statement {
  const { tag, modifiedAt, message, messageSequence } = changed.pass;
  const shown = decision.wallet && {
    'pass.tag': tag,
    'pass.modifiedAt': modifiedAt,
    ...(decision.message && { 'pass.message': message, 'pass.messageSequence': messageSequence }),
  };
  const known = decision.pass && { 'pass.googleSaved': decision.pass.googleSaved };
  const unset = Object.fromEntries((decision.unset ?? []).map((field) => [field, '']));
  return update(
    store,
    'members',
    { _id: before._id, merchantId: before.merchantId, version: before.version },
    {
      $set: { ...decision.set, version: changed.version, updatedAt: changed.updatedAt, ...shown, ...known },
      ...(decision.unset?.length && { $unset: unset }),
    },
  );
}
