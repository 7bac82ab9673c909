// Expires points. The members are found slice by slice of their ids, so that each query reads only a part of them. One
// transaction writes the expiries of several members, each guarded by its version, so a run that dies or overlaps
// another one leaves no member half written and expires nothing twice.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import { toChunks } from '../../platform/toChunks.js';
import { expire } from '../../schemas/balance.js';
import type { MemberRow } from '../../schemas/collections.js';
import { expirySlices, lotsOf, rowOf } from '../../schemas/expiry.js';
import { derivedId } from '../../schemas/ids.js';
import { type LotsAfter, removeExpired, sumOf } from '../../schemas/lots.js';
import type { Program } from '../../schemas/programs.js';
import type { ExpiryProgress } from '../../schemas/workflows.js';
import { outboxState } from '../outbox/outboxState.js';
import { cachedProgram } from '../programs/readProgram.js';
import { balanceDecision, balanceEvent } from './balanceRules.js';
import type { Decision } from './decision.js';
import { ledgerRowOf, memberWritesOf } from './memberWrites.js';

const readBatchSize = 1_000;
const groupSize = 200;
const transactionSize = 50;
const workMs = 10_000;
const mostBehindMs = 2_000;

export interface ExpireLots {
  /** The slice to start with. */
  from: number;
  /** Only of this program. */
  programId?: string;
  /** Expires what is due by this time; by default by now. */
  at?: Date;
  signal?: AbortSignal;
}

/** Works for about 10 s. `next` is the slice of the next call, absent at the end. Throws when MongoDB fails. */
export async function expireLots(deps: Deps, { from, programId, at, signal }: ExpireLots): Promise<ExpiryProgress> {
  const now = at ?? deps.now();
  const until = performance.now() + workMs;
  const done = { expired: 0, failed: 0 };
  for (let slice = from; slice < expirySlices; slice += 1) {
    const expiredBefore = done.expired;
    const failed = new Set<string>();
    const due = { 'expiry.slice': slice, 'expiry.at': { $lte: now }, ...(programId !== undefined && { programId }) };
    for (;;) {
      const found = await deps.collections.members
        .find(due, { projection: { _id: 1 } })
        .limit(readBatchSize + failed.size)
        .toArray();
      const ids = found.map(({ _id }) => _id).filter((id) => !failed.has(id));
      if (ids.length === 0) break;
      for (const group of toChunks(ids, groupSize)) {
        for (const memberIds of toChunks(group, transactionSize)) {
          signal?.throwIfAborted();
          const result = await expireSome(deps, { memberIds, now });
          done.expired += result.expired;
          for (const id of result.failed) failed.add(id);
          deps.crashPoint('mid-expiry');
        }
        await letRelaysCatchUp(deps, { until, signal });
        // A slice of which no member can be written does not block the others.
        const next = done.expired > expiredBefore || failed.size === 0 ? slice : slice + 1;
        if (performance.now() > until) return { expired: done.expired, failed: done.failed + failed.size, next };
      }
    }
    done.failed += failed.size;
  }
  return done;
}

/** A pause, so that other changes do not wait behind the expiries of a midnight. */
async function letRelaysCatchUp(deps: Deps, { until, signal }: { until: number; signal: AbortSignal | undefined }) {
  while (performance.now() < until && (await outboxState(deps)).oldestDueAgeMs > mostBehindMs)
    await sleep(200, undefined, signal && { signal });
}

interface Some {
  memberIds: readonly string[];
  now: Date;
}

/** When a transaction fails, each of its members is tried alone, so that one member does not block the others. */
async function expireSome(deps: Deps, { memberIds, now }: Some): Promise<{ expired: number; failed: string[] }> {
  try {
    return { expired: await retryOnConflict(deps, () => expireOnce(deps, { memberIds, now })), failed: [] };
  } catch (error) {
    const [only] = memberIds;
    if (memberIds.length === 1 && only !== undefined) {
      deps.log.error(
        { err: error, memberId: only },
        'the points of a member could not expire; the next run tries again',
      );
      return { expired: 0, failed: [only] };
    }
    const alone = [];
    for (const id of memberIds) alone.push(await expireSome(deps, { memberIds: [id], now }));
    return {
      expired: alone.reduce((sum, { expired }) => sum + expired, 0),
      failed: alone.flatMap(({ failed }) => failed),
    };
  }
}

/** Returns the number of members whose points expired. Members that are no longer due stay unchanged. */
async function expireOnce(deps: Deps, { memberIds, now }: Some): Promise<number> {
  const members = await deps.collections.members.find({ _id: { $in: [...memberIds] } }).toArray();
  const due = members.filter(({ expiry }) => expiry?.at && expiry.at <= now);
  const written = await Promise.all(
    due.map(async (member) => writesOf(deps, { member, program: await cachedProgram(deps, member), now })),
  );
  if (written.length > 0)
    await transact(
      deps,
      written.flatMap(({ statements }) => statements),
      written.length,
    );
  return written.filter(({ hasExpired }) => hasExpired).length;
}

interface Expiry {
  member: MemberRow;
  program: Program;
  now: Date;
}

function writesOf(deps: Deps, { member, program, now }: Expiry): { statements: Statement[]; hasExpired: boolean } {
  const { _id, merchantId, version } = member;
  const after = removeExpired(lotsOf(program, member), now);
  if (after.changes.length === 0) {
    // The lots remain from a rule that was removed.
    const change = program.expiry ? { $set: { expiry: rowOf(program, _id, after.lots) } } : { $unset: { expiry: '' } };
    return { statements: [update(deps, 'members', { _id, merchantId, version }, change)], hasExpired: false };
  }
  const decision = decideExpiry({ member, program, now: deps.now() }, after);
  const eventId = expiryId(member, after);
  const writes = memberWritesOf(deps, { before: member, program, decision, eventId, chooseLeaseOwner: () => null });
  const entry = ledgerRowOf(deps, { decision, member: writes.member, _id: eventId, eventId });
  return {
    statements: [writes.change, ...(entry ? [insert(deps, 'ledger', entry)] : []), ...writes.inserts],
    hasExpired: true,
  };
}

/** Derived from the lots and the version, so that an expiry that is repeated after a restore has the same id. */
const expiryId = ({ _id, version }: MemberRow, { changes }: LotsAfter): string =>
  derivedId('expiry', _id, String(version + 1), ...changes.map(({ id, by, at }) => `${id} ${by} ${at.toISOString()}`));

function decideExpiry({ member, program, now }: Expiry, lots: LotsAfter): Decision {
  const entry = { type: 'expiry' as const, actor: { type: 'program' as const, id: program._id } };
  const change = expire(program, member, member.balance - sumOf(lots.lots));
  return {
    ...balanceDecision(member, { change, program, entry, now, lots }),
    timeline: { type: 'points_expired', detail: String(-change.delta) },
    event: {
      type: 'points.changed',
      data: { ...balanceEvent(member, change, entry), delta: change.delta, reason: 'expired' },
    },
  };
}
