// Every change of a member goes through here: the claim of the idempotency key, the member's new state, its ledger row and
// its outgoing event are written together or not at all, and `version` grows by one (design.md, promise 1).
import { Binary } from 'mongodb';
import type { GestureRow, MemberRow, TransactionRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import type { EventType } from '../schemas/events.js';
import { newId } from '../schemas/ids.js';
import type { PassUpdate, Platform } from '../schemas/passUpdate.js';
import type { Program } from '../schemas/programs.js';
import type { Store } from './deps.js';
import { stepOf } from './memberStep.js';
import { recentProgram } from './programs.js';
import { decideAgain, insert, isDuplicate, StaleRead, type Statement, transact } from './transact.js';

/** What a rule decided about a member that it was shown. */
export interface Decision {
  set: Partial<Omit<MemberRow, '_id' | 'merchantId' | 'version' | 'pass'>>;
  unset?: ('firstName' | 'lastName' | 'email' | 'phone' | 'tier')[];
  /** The event that tells of it; `data` without what is the same for every event about a member. */
  event: { type: EventType; data: Record<string, unknown>; silent?: true };
  /** True when the wallets show what changed; `message` goes to the lock screen. */
  wallet: boolean;
  message?: string | undefined;
  /** The Google object is brought up to date, though nothing changed that it shows. */
  refresh?: true;
  ledger?: Pick<TransactionRow, 'type' | 'field' | 'previous' | 'current' | 'delta' | 'actor'> &
    Partial<Pick<TransactionRow, 'tier' | 'previousTier' | 'changeMessage'>>;
  /** What becomes true of the pass beside its version. */
  pass?: { googleSaved: boolean };
  /** A line of the timeline that is true as soon as the change is. */
  timeline?: { type: string; platform?: Platform; detail?: string };
  /** Further statements of the same transaction, such as search words. */
  statements?: Statement[];
}

export interface Answer {
  status: number;
  body: Buffer;
}

export interface Gesture {
  /** Workflow id, operation id and key of the claim, all in one (schemas/ids.ts). */
  id: string;
  /** Hash of what was asked; the same key with another one is refused. */
  fingerprint: string;
  /** The bytes to answer with once it is known what the wallets were told. */
  answer: (facts: GestureFacts, passUpdate: PassUpdate | null) => Answer;
}

/** What a gesture did, as its answer tells it; all of it can be read again from the ledger. */
export interface GestureFacts {
  memberId: string;
  memberCode: string;
  field: string;
  previous: number;
  current: number;
}

export interface ChangeMember {
  merchantId: string;
  memberId: string;
  gesture?: Gesture;
  /**
   * The id of the workflow that will carry the event out, or null to leave it to the relay. `awaited` is true when the
   * answer has to wait for a push.
   */
  holderOf: (eventId: string, awaited: boolean) => string | null;
  /** False when Temporal is known to be away: then nothing can be said of the wallets yet. */
  confirmable: boolean;
  /** May read what else it needs; it is asked again whenever the world changed before its decision was written. */
  decide: (member: MemberRow, program: Program) => Decision | null | Promise<Decision | null>;
}

export interface Done {
  kind: 'done';
  member: MemberRow;
  program: Program;
  eventId: string;
  /** The workflow that the event waits for; null when it is left to the relay. */
  holder: string | null;
  facts: GestureFacts;
  /** Known at once when nobody had to be told; undefined when a push has to be waited for. */
  passUpdate: PassUpdate | null | undefined;
  /** Present when the transaction could already store the answer. */
  answer?: Answer;
}

export type Changed =
  | Done
  | { kind: 'unchanged'; member: MemberRow; program: Program }
  | { kind: 'replay'; answer: Answer }
  | { kind: 'abandoned'; gesture: GestureRow; facts: GestureFacts; programId: string; passUpdate: PassUpdate | null };

/** A claim without an answer belongs to a request that still runs; older than this, to a process that died. */
const claimMs = 8_500;

async function earlier(store: Store, gesture: Gesture, row: GestureRow, member: MemberRow): Promise<Changed> {
  if (row.fingerprint !== gesture.fingerprint) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
  if (row.response)
    return { kind: 'replay', answer: { status: row.response.status, body: Buffer.from(row.response.body.buffer) } };
  // In both directions: a clock that was put back must not keep a dead process's key taken until it has caught up.
  if (Math.abs(store.now().getTime() - row.createdAt.getTime()) < claimMs)
    throw new ServiceError('IDEMPOTENCY_KEY_IN_USE');
  const { _id: memberId, merchantId, memberCode } = member;
  const [entry, event] = await Promise.all([
    store.rows.transactions.findOne({ _id: gesture.id, merchantId }),
    store.rows.events.findOne({ _id: row.eventId, merchantId }, { projection: { passUpdate: 1 } }),
  ]);
  if (!entry) throw new StaleRead('A claim without its ledger row.');
  const { field, previous, current, programId } = entry;
  return {
    kind: 'abandoned',
    gesture: row,
    facts: { memberId, memberCode, field, previous, current },
    programId,
    passUpdate: event?.passUpdate ?? null,
  };
}

async function attempt(store: Store, input: ChangeMember): Promise<Changed> {
  const { merchantId, memberId, gesture } = input;
  const [claim, before] = await Promise.all([
    gesture ? store.read.gesture({ _id: gesture.id, merchantId }) : null,
    store.read.member({ _id: memberId, merchantId }),
  ]);
  if (!before) throw new ServiceError('MEMBER_NOT_FOUND');
  if (gesture && claim) return earlier(store, gesture, claim, before);
  const program = await recentProgram(store, { merchantId, programId: before.programId });
  const decision = await refusedOr(() => input.decide(before, program));
  if (decision instanceof ServiceError) {
    const spent = gesture && (await spentGesture(store, { gesture, member: before }));
    if (spent) return spent;
    throw decision;
  }
  if (!decision) return { kind: 'unchanged', member: before, program };

  const now = store.now();
  const eventId = newId();
  const step = stepOf(store, { before, program, decision, eventId, holderOf: input.holderOf });
  const { member, holder } = step;
  const passUpdate = input.confirmable ? step.passUpdate : null;
  const done: Done = {
    kind: 'done',
    member,
    program,
    eventId,
    holder,
    facts: {
      memberId,
      memberCode: member.memberCode,
      field: member.field,
      previous: before.balance,
      current: member.balance,
    },
    passUpdate,
  };
  const statements: Statement[] = [step.change];
  if (gesture) {
    if (passUpdate !== undefined) done.answer = gesture.answer(done.facts, passUpdate);
    statements.push(insert(store, 'gestures', gestureRow(gesture, { merchantId, eventId, now, answer: done.answer })));
  }
  if (decision.ledger) {
    statements.push(
      insert(store, 'transactions', {
        _id: gesture?.id ?? eventId,
        merchantId,
        memberId,
        programId: before.programId,
        eventId,
        ...(gesture && { fingerprint: gesture.fingerprint }),
        ...decision.ledger,
        memberVersion: member.version,
        createdAt: now,
      }),
    );
  }
  statements.push(...step.inserts);
  try {
    await transact(store, statements, 1);
  } catch (error) {
    const spent = gesture && isDuplicate(error) ? await spentGesture(store, { gesture, member: before }) : null;
    if (spent) return spent;
    throw error;
  }
  return done;
}

async function refusedOr<T>(work: () => T | Promise<T>): Promise<T | ServiceError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** A key that outlived its stored answer is still known by its ledger row, so it can never apply a second time. */
async function spentGesture(store: Store, at: { gesture: Gesture; member: MemberRow }): Promise<Changed | null> {
  const filter = { _id: at.gesture.id, merchantId: at.member.merchantId };
  const [claim, entry] = await Promise.all([
    store.rows.gestures.findOne(filter),
    store.rows.transactions.findOne(filter),
  ]);
  if (claim || !entry) return null;
  const { _id, merchantId, fingerprint = '', eventId = '', createdAt } = entry;
  return earlier(store, at.gesture, { _id, merchantId, fingerprint, eventId, createdAt }, at.member);
}

function gestureRow(
  gesture: Gesture,
  at: { merchantId: string; eventId: string; now: Date; answer: Answer | undefined },
): GestureRow {
  return {
    _id: gesture.id,
    merchantId: at.merchantId,
    fingerprint: gesture.fingerprint,
    eventId: at.eventId,
    createdAt: at.now,
    ...(at.answer && { response: { status: at.answer.status, body: new Binary(at.answer.body) } }),
  };
}

/**
 * Applies one change to one member. Throws MEMBER_NOT_FOUND, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE, whatever
 * `decide` throws, and UNAVAILABLE; in each of these cases nothing has changed.
 */
export function changeMember(store: Store, input: ChangeMember): Promise<Changed> {
  return store.inTurn(input.memberId, () => decideAgain(store, () => attempt(store, input)));
}

/** Keeps the first answer given to a key, and returns the one that was kept. */
export async function storeAnswer(
  store: Store,
  at: { merchantId: string; gestureId: string; answer: Answer },
): Promise<Answer> {
  const { gestures } = store.rows;
  const kept = await gestures.updateOne(
    { _id: at.gestureId, merchantId: at.merchantId, response: { $exists: false } },
    { $set: { response: { status: at.answer.status, body: new Binary(at.answer.body) } } },
  );
  if (kept.matchedCount === 1) return at.answer;
  const row = await gestures.findOne({ _id: at.gestureId, merchantId: at.merchantId });
  // Expired: there is nothing left to keep it in, and its ledger row goes on guarding it.
  if (!row?.response) return at.answer;
  return { status: row.response.status, body: Buffer.from(row.response.body.buffer) };
}
