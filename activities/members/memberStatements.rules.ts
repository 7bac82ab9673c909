// Builds the rows of one transaction from one decision about one member: the member's next version, its event, its
// ledger entry, and its line in the timeline. A keyed change adds its idempotency row; a campaign writes the rows of
// several members in one transaction.
import type { Deps } from '../../platform/deps.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import type { WalletModes } from '../../schemas/shared/passUpdate.schema.js';
import { nextModified, nextTag, type PassUpdate } from '../../schemas/shared/passUpdate.schema.js';
import { showsChange } from '../../schemas/wallets/passes.view.js';
import { hasRecipients, modesOf, passUpdateWithoutPush } from '../../schemas/wallets/walletModes.rules.js';
import { newMemberEvent } from '../events/newEvent.rules.js';
import type { ChangeMember, KeyedChange } from './change.schema.js';
import type { Decision } from './decision.schema.js';
import { timelineRow } from './timelineRow.rules.js';

export interface MemberWrites {
  /** The member after the change. */
  member: MemberRow;
  /** Known when there is no push; undefined when the result of a push has to be awaited. */
  passUpdate: PassUpdate | undefined;
  leaseOwner: string | null;
  /** Matches no document when the member has changed since it was read. */
  change: Statement;
  inserts: Statement[];
  /** The ledger entry, when the decision has one. It is among the inserts. */
  entry: LedgerRow | undefined;
}

export interface MemberWritesInput {
  before: MemberRow;
  program: Program;
  decision: Decision;
  eventId: string;
  /** The id and the fingerprint of the ledger entry of a keyed change. By default the id is that of the event. */
  keyedChange?: Pick<KeyedChange, 'id' | 'fingerprint'> | undefined;
  chooseLeaseOwner: ChangeMember['chooseLeaseOwner'];
  /** For the push of a batch: the chunk of targets that counts the result. */
  targetsId?: string;
}

export function memberWritesOf(
  deps: Deps,
  { before, program, decision, eventId, keyedChange, chooseLeaseOwner, targetsId }: MemberWritesInput,
): MemberWrites {
  const { mandatory } = decision;
  const modes = mandatory ? deps.walletModes : modesOf(deps.walletModes, program);
  const now = deps.now();
  const changed = changedBy(before, decision, now);
  const isPushed = decision.push === true || showsChange(deps.config, { program, before, after: changed });
  const member = isPushed
    ? nextVersion(changed, decision, { now, modes, isTold: program.pushMessages || mandatory === true })
    : changed;
  const needsNoPush = !isPushed || !hasRecipients(modes, member);
  const passUpdate = needsNoPush ? passUpdateWithoutPush(modes, member) : undefined;
  const leaseOwner = chooseLeaseOwner(eventId, passUpdate === undefined);
  const entry = ledgerRowOf(deps, { decision, member, eventId, keyedChange });
  const event = newMemberEvent(deps, {
    eventId,
    event: decision.event,
    ...(entry && { entry }),
    visit: decision.visit,
    member,
    leaseOwner,
    ...(isPushed && { passAction: 'push' as const }),
    ...(mandatory && { mandatory }),
    ...(decision.refresh && { passAction: 'refresh' as const }),
    ...(passUpdate && !decision.refresh && { passUpdate }),
    ...(targetsId !== undefined && { targetsId }),
  });
  const line =
    decision.timeline && timelineRow(event, { memberId: member._id, outcome: 'success', ...decision.timeline });
  return {
    member,
    passUpdate,
    leaseOwner,
    change: changeStatement(deps, before, { member, decision, isPushed }),
    inserts: [
      ...(line ? [insert(deps, 'timeline', line)] : []),
      ...(entry ? [insert(deps, 'ledger', entry)] : []),
      insert(deps, 'events', event),
      ...(decision.statements ?? []),
    ],
    entry,
  };
}

/** `member` is the member after the change. */
function ledgerRowOf(
  deps: Pick<Deps, 'now'>,
  {
    decision,
    member,
    eventId,
    keyedChange,
  }: Pick<MemberWritesInput, 'decision' | 'eventId' | 'keyedChange'> & { member: MemberRow },
): LedgerRow | undefined {
  const { _id: memberId, merchantId, programId, version: memberVersion } = member;
  const ids = {
    _id: keyedChange?.id ?? eventId,
    eventId,
    ...(keyedChange && { fingerprint: keyedChange.fingerprint }),
  };
  const about = { ...ids, merchantId, memberId, programId, memberVersion, createdAt: deps.now() };
  return decision.ledger && { ...decision.ledger, ...about };
}

/** An event alone, such as a scan, leaves `updatedAt`. */
function changedBy(member: MemberRow, decision: Decision, now: Date): MemberRow {
  const { set, unset = [], pass, push } = decision;
  const isEventAlone = Object.keys(set).length === 0 && unset.length === 0 && pass === undefined && push !== true;
  const updatedAt = isEventAlone ? member.updatedAt : now;
  const changed: MemberRow = { ...member, ...set, version: member.version + 1, updatedAt };
  for (const field of unset) delete changed[field];
  if (pass) changed.pass = { ...member.pass, ...pass };
  return changed;
}

/** The changed member with the next version of its pass. */
function nextVersion(
  changed: MemberRow,
  { message }: Decision,
  { now, modes, isTold }: { now: Date; modes: WalletModes; isTold: boolean },
): MemberRow {
  const { pass } = changed;
  const next = { ...pass, tag: nextTag(pass.tag, now), modifiedAt: nextModified(pass.modifiedAt, now) };
  // What no push tells a wallet stays owed. A program whose pushes are turned on again is rebuilt as a whole.
  if (isTold) {
    // No customer is known to have saved this object, but Google's callback about a save may be missing.
    if (modes.google === 'stub' || !next.googleSaved) next.googleDueAt ??= now;
    if (modes.apple === 'stub' && changed.deviceCount > 0) next.appleDueAt ??= now;
  }
  if (message) {
    next.message = message;
    next.messageSequence += 1;
  }
  return { ...changed, pass: next };
}

/**
 * Sets only the changed fields, because issuing a pass and registering a device change other fields of the row
 * concurrently, without a new version.
 */
function changeStatement(
  deps: Deps,
  before: MemberRow,
  { member: changed, decision, isPushed }: { member: MemberRow; decision: Decision; isPushed: boolean },
): Statement {
  const { tag, modifiedAt, message, messageSequence, googleDueAt, appleDueAt } = changed.pass;
  const shown = isPushed && {
    'pass.tag': tag,
    'pass.modifiedAt': modifiedAt,
    ...(googleDueAt !== before.pass.googleDueAt && { 'pass.googleDueAt': googleDueAt }),
    ...(appleDueAt !== before.pass.appleDueAt && { 'pass.appleDueAt': appleDueAt }),
    ...(decision.message && { 'pass.message': message, 'pass.messageSequence': messageSequence }),
  };
  const known = Object.fromEntries(
    Object.entries(decision.pass ?? {}).map(([field, value]) => [`pass.${field}`, value]),
  );
  const unset = Object.fromEntries((decision.unset ?? []).map((field) => [field, '']));
  return update(
    deps,
    'members',
    { _id: before._id, merchantId: before.merchantId, version: before.version },
    {
      $set: { ...decision.set, version: changed.version, updatedAt: changed.updatedAt, ...shown, ...known },
      ...(decision.unset?.length && { $unset: unset }),
    },
  );
}
