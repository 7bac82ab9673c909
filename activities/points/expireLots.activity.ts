// Expires points. The members are found slice by slice of their ids, so that each query reads only a part of them. One
// transaction writes the expiries of several members, each guarded by its version, so a run that dies or overlaps
// another one leaves no member half written and expires nothing twice.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '../../platform/deps.js';
import { toChunks } from '../../platform/toChunks.js';
import { expirySlices } from '../../schemas/points/expiry.rules.js';
import type { ExpiryProgress } from '../../schemas/tables/workflows.js';
import { outboxState } from '../events/outboxState.reads.js';
import { expireSome, transactionSize } from '../members/expireDue.writes.js';

const readBatchSize = 1_000;
const groupSize = 200;
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
