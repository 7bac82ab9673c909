// Expires points. The members are found slice by slice of their ids, so that each query reads only a part of them. One
// transaction writes the expiries of several members, each guarded by its version, so a run that dies or overlaps
// another one leaves no member half written and expires nothing twice.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import { toChunks } from '../../platform/toChunks.js';
import { expirySlices, lotsOf, rowOf } from '../../schemas/points/expiry.rules.js';
import { removeExpired } from '../../schemas/points/lots.rules.js';
import type { MemberRow } from '../../schemas/tables/collections.js';
import type { ExpiryProgress } from '../../schemas/tables/workflows.js';
import { outboxState } from '../events/outboxState.reads.js';
import { type DueExpiryInput, dueExpiry } from '../members/dueExpiry.writes.js';
import { cachedProgram } from '../programs/program.reads.js';

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
  const written = await Promise.all(
    members.map(async (member) => {
      const program = await cachedProgram(deps, member);
      const expired = dueExpiry(deps, { member, program, now });
      return { statements: expired?.statements ?? withoutOldLots(deps, { member, program, now }), expired };
    }),
  );
  const writing = written.filter(({ statements }) => statements.length > 0);
  if (writing.length > 0)
    await transact(
      deps,
      writing.flatMap(({ statements }) => statements),
      writing.length,
    );
  return written.filter(({ expired }) => expired).length;
}

/** Lots that are due in the member's row alone remain from a rule that was removed. */
function withoutOldLots(deps: Deps, { member, program, now }: DueExpiryInput): Statement[] {
  const { _id, merchantId, version, expiry } = member;
  if (!expiry?.at || expiry.at > now) return [];
  const change = program.expiry
    ? { $set: { expiry: rowOf(program, _id, lotsOf(program, member)) } }
    : { $unset: { expiry: '' } };
  return [update(deps, 'members', { _id, merchantId, version }, change)];
}

/**
 * The members after what was due has expired, for answers: what cannot be spent is not shown, even when the schedule
 * did not run. A member whose points could not expire is returned as it was read.
 */
export async function withoutDue(deps: Deps, members: readonly MemberRow[]): Promise<MemberRow[]> {
  const now = deps.now();
  const due: string[] = [];
  for (const member of members) {
    const after = removeExpired(lotsOf(await cachedProgram(deps, member), member), now);
    if (after.changes.length > 0) due.push(member._id);
  }
  if (due.length === 0) return [...members];
  // The audit of a request is about the change that it asks for.
  for (const memberIds of toChunks(due, transactionSize)) await expireSome({ ...deps, audit: [] }, { memberIds, now });
  return Promise.all(
    members.map(async (member) => {
      const { _id, merchantId } = member;
      return due.includes(_id) ? ((await deps.read.member({ _id, merchantId })) ?? member) : member;
    }),
  );
}
