// Writes the delivery log, and counts attempts and deliveries in the same transaction. Attempts that finish at the same
// time share one insert and one bulk write. The first attempt inserts the row of its delivery. A later failure is
// always added to the history, but it sets the delivery's state only when its attempt still holds the delivery's fence.
// A success always sets the state, also of the other deliveries of the event to the subscription (replays, and what was
// replayed), and failures after a success are not logged. A write that fails is repeated, because an attempt that is
// not logged is made again.
import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '../../platform/batcher.js';
import type { Deps } from '../../platform/deps.js';
import { VersionConflict } from '../../platform/mongodb/conflicts.js';
import { commit, inTransaction, writeAll } from '../../platform/mongodb/inTransaction.js';
import { isUnavailable } from '../../platform/mongodb/isUnavailable.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { update } from '../../platform/mongodb/statements.js';
import { StillContended } from '../../platform/mongodb/stillContended.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import { toChunks } from '../../platform/toChunks.js';
import type { Counted, Counts } from '../../schemas/stats/stats.schema.js';
import type { DeliveryAttempt, DeliveryRow } from '../../schemas/webhooks/webhooks.rows.js';
import { isUnfinished } from '../../schemas/webhooks/webhooks.schema.js';
import { type Counting, createCounting } from '../stats/counting.writes.js';
import { asRead, maxLogMs, outOfQueue } from './deliveryQueue.writes.js';

export interface DeliveryRecord {
  deliveryId: string;
  /** The delivery as it was when the attempt began; set when the log may not have its row yet. */
  unlogged?: DeliveryRow | undefined;
  /** The delivery's fence when the attempt began. */
  fence: string;
  set: Partial<DeliveryRow>;
  attempt: DeliveryRow['history'][number];
}

export type LogAttempt = (record: DeliveryRecord) => Promise<void>;

const logBatcherOptions = { batchSize: 200, concurrency: 1 };
const maxHistory = 100;

const pauseMs = 250;

export function createLogAttempt(deps: Deps): LogAttempt {
  const counting = createCounting(deps);
  return createBatcher(async (records: DeliveryRecord[]) => {
    const until = performance.now() + maxLogMs;
    for (;;) {
      try {
        await write(deps, counting, records);
        return records.map(() => undefined);
      } catch (error) {
        const mayPass = isUnavailable(error) || error instanceof StillContended;
        if (!mayPass || performance.now() > until) throw error;
        await sleep(pauseMs);
      }
    }
  }, logBatcherOptions);
}

/** Writing the same records again changes nothing. */
async function write(deps: Deps, counting: Counting, records: readonly DeliveryRecord[]): Promise<void> {
  const firsts = new Map<string, DeliveryRecord>();
  for (const record of records)
    if (record.unlogged && !firsts.has(record.deliveryId)) firsts.set(record.deliveryId, record);
  const known = await insertFirst(deps, counting, [...firsts.values()]);
  const later = records.filter((record) => firsts.get(record.deliveryId) !== record || known.has(record.deliveryId));
  for (const some of toChunks(later)) await retryOnConflict(deps, () => addLater(deps, counting, some));
}

/** Inserts the rows of first attempts. Returns the ids of those that the log had already. */
async function insertFirst(
  deps: Deps,
  counting: Counting,
  records: readonly DeliveryRecord[],
): Promise<ReadonlySet<string>> {
  const rows = records.flatMap(({ unlogged, set, attempt }): DeliveryRow[] =>
    unlogged ? [{ ...unlogged, ...set, attempts: 1, history: [attempt] }] : [],
  );
  const ids = rows.map(({ _id }) => _id);
  let known = new Set<string>();
  let isRepeated = false;
  await retryOnConflict(deps, async () => {
    if (isRepeated) known = new Set((await readRows(deps, ids)).keys());
    isRepeated = true;
    const missing = rows.filter(({ _id }) => !known.has(_id));
    if (missing.length === 0) return;
    const counted = missing.flatMap((row) => row.history.map((attempt) => countedOf(row, attempt, row)));
    await counting.changeSlotOnConflict(async () => {
      const counters = await counting.statements(counted);
      await inTransaction(deps, async (session) => {
        // As statements of a bulk write, 200 rows cost the embedded engine twice as much.
        await deps.collections.deliveries.insertMany(missing, { session });
        await writeAll(deps, counters, { session });
      });
    });
  });
  return known;
}

/**
 * Adds attempts to the rows of their deliveries. Throws VersionConflict when one of these has changed since it was
 * read.
 */
async function addLater(deps: Deps, counting: Counting, records: readonly DeliveryRecord[]): Promise<void> {
  const rows = await readRows(deps, [...new Set(records.map(({ deliveryId }) => deliveryId))]);
  const others = await readOthers(
    deps,
    records.flatMap(({ deliveryId, set }) => (set.success && rows.get(deliveryId)) || []),
  );
  const statements: Statement[] = [];
  const counted: Counted[] = [];
  const write = (row: DeliveryRow, change: Partial<DeliveryRow>, attempt?: DeliveryAttempt): void => {
    const isOver = change.state !== undefined && !isUnfinished(change.state);
    const $set = Object.keys(change).length > 0 && { $set: change };
    const logged = attempt && {
      $inc: { attempts: 1 },
      $push: { history: { $each: [attempt], $slice: -maxHistory } },
    };
    const { attempts, history } = row;
    const where = { ...asRead(row), attempts };
    statements.push(update(deps, 'deliveries', where, { ...$set, ...(isOver && outOfQueue), ...logged }));
    const added = attempt && { attempts: attempts + 1, history: [...history, attempt] };
    rows.set(row._id, { ...row, ...change, ...added });
  };
  for (const { deliveryId: _id, fence, set, attempt } of records) {
    const row = rows.get(_id);
    // The start of an attempt identifies it within its delivery.
    const isLogged = row?.history.some(({ at }) => at.getTime() === attempt.at.getTime());
    if (!row || isLogged || (!set.success && row.state === 'succeeded')) continue;
    const change = set.success || row.fence === fence ? set : {};
    write(row, change, attempt);
    counted.push(countedOf(row, attempt, change.state === row.state ? {} : change));
    if (!set.success) continue;
    const { statusCode } = attempt;
    for (const { _id: id } of others.filter((other) => other._id !== _id && rootOf(other) === rootOf(row))) {
      const other = rows.get(id) ?? others.find((found) => found._id === id);
      // A replay that was asked for after this attempt began is still to be made.
      if (!other || other.state === 'succeeded' || other.createdAt > attempt.at) continue;
      write(other, { ...arrived, statusCode });
      const { merchantId, programId } = other;
      counted.push({ merchantId, programId, at: attempt.at, counts: { 'deliveries.succeeded': 1 } });
    }
  }
  await writeCounted(deps, counting, { statements, counted });
}

/** How a delivery ends when another delivery of its event to its subscription has succeeded. */
const arrived = { state: 'succeeded', success: true, error: null, detail: null, nextAttemptAt: null } as const;

const rootOf = ({ _id, root = _id }: Pick<DeliveryRow, '_id' | 'root'>): string => root;

/** The deliveries of the same events to the same subscriptions, these included when there are others. */
async function readOthers({ collections }: Deps, rows: readonly DeliveryRow[]): Promise<DeliveryRow[]> {
  const roots = [...new Set(rows.map(rootOf))];
  if (roots.length === 0) return [];
  const replays = await collections.deliveries.find({ root: { $in: roots } }).toArray();
  const replayed = [...new Set(replays.map(rootOf))];
  if (replayed.length === 0) return [];
  return [...replays, ...(await collections.deliveries.find({ _id: { $in: replayed } }).toArray())];
}

async function readRows({ collections }: Deps, ids: readonly string[]): Promise<Map<string, DeliveryRow>> {
  const rows = await collections.deliveries.find({ _id: { $in: [...ids] } }).toArray();
  return new Map(rows.map((row) => [row._id, row]));
}

/** Throws VersionConflict, and writes nothing, when a statement does not match its row. */
function writeCounted(
  deps: Deps,
  counting: Counting,
  { statements, counted }: { statements: Statement[]; counted: readonly Counted[] },
): Promise<void> {
  return counting.changeSlotOnConflict(async () => {
    if (statements.length === 0) return;
    const counters = await counting.statements(counted);
    await commit(deps, [...statements, ...counters], (matched) => {
      if (matched < statements.length + counters.length)
        throw new VersionConflict('A delivery has changed since it was read.');
    });
  });
}

/** What an attempt adds to the counters. `change` is what it changed in the state of its delivery. */
function countedOf(
  { merchantId, programId }: Pick<DeliveryRow, 'merchantId' | 'programId'>,
  { at, error }: DeliveryAttempt,
  { state }: Pick<Partial<DeliveryRow>, 'state'>,
): Counted {
  const counts: Counts = {
    'deliveries.attempts': 1,
    ...(error !== null && { 'deliveries.failedAttempts': 1 }),
    ...(state === 'succeeded' && { 'deliveries.succeeded': 1 }),
    ...(state === 'exhausted' && { 'deliveries.exhausted': 1 }),
  };
  return { merchantId, programId, at, counts };
}
