// Every change that a request makes to a member that exists goes through this file, except an erasure. Expiry and
// campaigns use memberStatements.rules.ts directly, and enrollment has rows of its own (newMember.rules.ts). One
// transaction writes the row of the idempotency key, the member's new state, its ledger entry and its event, and
// increments `version` (guarantee 1 of docs/architecture.md). Points that are due expire in the same transaction,
// before the change.
import { Binary } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import { isDuplicateKey, VersionConflict } from '../../platform/mongodb/conflicts.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { fieldOf } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { derivedId, newId } from '../../schemas/shared/ids.js';
import type { IdempotencyKeyRow } from '../../schemas/shared/service.rows.js';
import { cachedProgram } from '../programs/program.reads.js';
import type { Answer, ChangeMember, ChangeResult, Done, KeyedChange } from './change.schema.js';
import type { Decision } from './decision.schema.js';
import { dueExpiry } from './dueExpiry.writes.js';
import { memberWritesOf } from './memberStatements.rules.js';
import { withVisit } from './visits.reads.js';

/**
 * An idempotency row without an answer that is younger than this belongs to a running request, an older one to a
 * process that died.
 */
const keyInUseMs = 8_500;

async function earlierResult(
  deps: Deps,
  keyedChange: KeyedChange,
  row: IdempotencyKeyRow,
  member: MemberRow,
): Promise<ChangeResult> {
  if (row.fingerprint !== keyedChange.fingerprint) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
  if (row.response)
    return { kind: 'answered', answer: { status: row.response.status, body: Buffer.from(row.response.body.buffer) } };
  // The absolute difference: after a clock was set back, the rows of dead processes would otherwise look new until the
  // clock has caught up.
  if (Math.abs(deps.now().getTime() - row.createdAt.getTime()) < keyInUseMs)
    throw new ServiceError('IDEMPOTENCY_KEY_IN_USE');
  const { _id: memberId, merchantId, memberCode } = member;
  const [entry, event] = await Promise.all([
    deps.collections.ledger.findOne({ _id: keyedChange.id, merchantId }),
    deps.collections.events.findOne({ _id: row.eventId ?? '', merchantId }, { projection: { passUpdate: 1 } }),
  ]);
  if (!entry) throw new VersionConflict('An idempotency key without its ledger entry.');
  const { field, previous, current, programId } = entry;
  return {
    kind: 'abandoned',
    keyRow: row,
    facts: { memberId, memberCode, field, previous, current, entry },
    programId,
    passUpdate: event?.passUpdate ?? null,
  };
}

async function tryChange(deps: Deps, input: ChangeMember): Promise<ChangeResult> {
  const { merchantId, memberId, keyedChange } = input;
  const [keyRow, found] = await Promise.all([
    keyedChange ? deps.read.idempotencyKey({ _id: keyedChange.id, merchantId }) : null,
    deps.read.member({ _id: memberId, merchantId }),
  ]);
  if (!found) throw new ServiceError('MEMBER_NOT_FOUND');
  if (keyedChange && keyRow) return earlierResult(deps, keyedChange, keyRow, found);
  const program = await cachedProgram(deps, { merchantId, programId: found.programId });
  // The label of the program may have changed since the member was written.
  const present = { ...found, field: fieldOf(program) };
  const now = deps.now();
  // One time for all that is written.
  const there = { ...deps, now: () => now };
  const due = dueExpiry(deps, { member: present, program, now });
  const before = due?.member ?? present;
  const decision = await resultOrRefusal(async () => {
    const decided = await input.decide(before, program, due?.entry);
    return decided && withVisit(there, { member: before, program, decision: decided });
  });
  if (decision instanceof ServiceError) {
    const earlierOutcome = keyedChange && (await findSpentKey(deps, { keyedChange, member: before }));
    if (earlierOutcome) return earlierOutcome;
    throw decision;
  }
  if (!decision) {
    if (due) await transact({ ...deps, audit: [] }, due.statements, 1);
    return { kind: 'unchanged', member: before, program };
  }

  const eventId = changeEventId({ keyedChange, member: before, decision });
  const { chooseLeaseOwner } = input;
  const writes = memberWritesOf(there, { before, program, decision, eventId, keyedChange, chooseLeaseOwner });
  const { member, leaseOwner, entry } = writes;
  const passUpdate = input.temporalAvailable ? writes.passUpdate : null;
  const done: Done = {
    kind: 'done',
    member,
    program,
    eventId,
    leaseOwner,
    facts: {
      memberId,
      memberCode: member.memberCode,
      field: member.field,
      previous: before.balance,
      current: member.balance,
      ...(entry && { entry }),
    },
    passUpdate,
  };
  const { updates = [] } = decision;
  const statements: Statement[] = [...(due?.statements ?? []), writes.change, ...updates];
  if (keyedChange) {
    if (passUpdate !== undefined) done.answer = keyedChange.answer(done.facts, passUpdate);
    statements.push(
      insert(
        deps,
        'idempotencyKeys',
        idempotencyKeyRow(keyedChange, { merchantId, eventId, now, answer: done.answer }),
      ),
    );
  }
  statements.push(...writes.inserts);
  try {
    await transact(deps, statements, (due ? 2 : 1) + updates.length);
  } catch (error) {
    const earlierOutcome =
      keyedChange && isDuplicateKey(error) ? await findSpentKey(deps, { keyedChange, member: before }) : null;
    if (earlierOutcome) return earlierOutcome;
    throw error;
  }
  return done;
}

async function resultOrRefusal<T>(work: () => T | Promise<T>): Promise<T | ServiceError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** Finds the ledger entry of a key whose stored answer has expired, so that a key is never applied twice. */
async function findSpentKey(
  deps: Deps,
  at: { keyedChange: KeyedChange; member: MemberRow },
): Promise<ChangeResult | null> {
  const filter = { _id: at.keyedChange.id, merchantId: at.member.merchantId };
  const [keyRow, entry] = await Promise.all([
    deps.collections.idempotencyKeys.findOne(filter),
    deps.collections.ledger.findOne(filter),
  ]);
  if (keyRow || !entry) return null;
  const { _id, merchantId, fingerprint = '', eventId = '', createdAt } = entry;
  return earlierResult(deps, at.keyedChange, { _id, merchantId, fingerprint, eventId, createdAt }, at.member);
}

/**
 * The id of the event of a change. After a restore, a change that the restored data lacks may be made again; its event
 * gets the same id, so that receivers do not count it twice
 * (docs/decisions/one-transaction-per-change.md).
 */
function changeEventId(at: { keyedChange: KeyedChange | undefined; member: MemberRow; decision: Decision }): string {
  const { keyedChange, member, decision } = at;
  if (keyedChange) return derivedId('event', keyedChange.id, keyedChange.fingerprint);
  const { type, data } = decision.event;
  if (type !== 'member.updated') return newId();
  return derivedId('event', member._id, String(member.version + 1), JSON.stringify(data));
}

function idempotencyKeyRow(
  keyedChange: KeyedChange,
  at: { merchantId: string; eventId: string; now: Date; answer: Answer | undefined },
): IdempotencyKeyRow {
  return {
    _id: keyedChange.id,
    merchantId: at.merchantId,
    fingerprint: keyedChange.fingerprint,
    eventId: at.eventId,
    createdAt: at.now,
    ...(at.answer && { response: { status: at.answer.status, body: new Binary(at.answer.body) } }),
  };
}

/**
 * Applies one change to one member. Throws MEMBER_NOT_FOUND, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE, every
 * error that `decide` throws, and UNAVAILABLE; in each of these cases nothing has changed. An error of the MongoDB
 * driver leaves open whether the change was applied; a request with the same idempotency key then returns its result or
 * applies it.
 */
export function changeMember(deps: Deps, input: ChangeMember): Promise<ChangeResult> {
  return deps.runExclusive(input.memberId, () => retryOnConflict(deps, () => tryChange(deps, input)));
}

/** Stores the answer of a key unless it has one already. Returns the stored answer, which is the first one. */
export async function storeAnswer(
  deps: Deps,
  at: { merchantId: string; keyedChangeId: string; answer: Answer },
): Promise<Answer> {
  const { idempotencyKeys } = deps.collections;
  const kept = await idempotencyKeys.updateOne(
    // The row of an erased member has no fingerprint, and takes no answer.
    { _id: at.keyedChangeId, merchantId: at.merchantId, fingerprint: { $ne: '' }, response: { $exists: false } },
    { $set: { response: { status: at.answer.status, body: new Binary(at.answer.body) } } },
  );
  if (kept.matchedCount === 1) return at.answer;
  const row = await idempotencyKeys.findOne({ _id: at.keyedChangeId, merchantId: at.merchantId });
  // The row of the key has expired, so the answer cannot be stored. The ledger entry still prevents a second
  // application.
  if (!row?.response) return at.answer;
  return { status: row.response.status, body: Buffer.from(row.response.body.buffer) };
}
