// The pull feed. Events are numbered when the feed is read, not when they are written. An event has sequence 0
// (waiting) from the moment its bytes are serialised. A read gives the waiting events the next numbers of their
// merchant, in one transaction with the merchant's counter. An event that is committed after a read therefore gets a
// higher number than every cursor that the read returned, so a reader misses no event.
import type { Binary, Filter } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import { isUnavailable } from '../../platform/mongodb/isUnavailable.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert, update, updateMany } from '../../platform/mongodb/statements.js';
import { StillContended } from '../../platform/mongodb/stillContended.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import { toChunks } from '../../platform/toChunks.js';
import { within } from '../../platform/within.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { EventType } from '../../schemas/events/events.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';

export interface ReadFeed {
  merchantId: string;
  /** The last number that the reader has seen; 0 reads from the oldest event that is kept. */
  after: number;
  types?: readonly EventType[] | undefined;
  limit: number;
}

export interface FeedPage {
  envelopes: Binary[];
  /** The next page begins after this number. */
  sequence: number;
  /** True when the next page can be read at once. */
  more: boolean;
}

/** How many events get their number in one transaction, at most. */
const numberingBatchSize = 200;
/** How many waiting events are read at a time; the embedded engine reads all of them for any limit. */
const numberingReadSize = 2_000;
/** For how long one read goes on to give numbers, in milliseconds. */
const numberingMs = 500;
/** For how long a reader waits for numbers; those that are given later belong to the next page. */
const numberingWaitMs = 800;
/** How many events a page with a type filter scans, at most; such a page may have fewer events than its limit. */
const maxScannedEvents = 2_000;

/**
 * Rows read with this read concern survive a failover of MongoDB, so a cursor never points past events that were lost.
 */
const majorityRead = { readConcern: { level: 'majority' } } as const;

const counterId = (merchantId: string): string => `feed:${merchantId}`;

async function lastNumber(deps: Deps, merchantId: string, options = {}): Promise<number> {
  const counter = await deps.collections.counters.findOne({ _id: counterId(merchantId) }, options);
  return counter?.sequence ?? 0;
}

const inOrder = (a: EventRow, b: EventRow): number =>
  a.occurredAt.getTime() - b.occurredAt.getTime() ||
  Number(a.data.memberVersion ?? 0) - Number(b.data.memberVersion ?? 0) ||
  (a._id < b._id ? -1 : 1);

/**
 * Gives the waiting events the next numbers and returns whether more may be waiting. Published events come first,
 * because no other process writes to them. Events that are just being published may cause conflicts, so after each
 * conflict the chunks are half as large. If the conflicts do not end, or MongoDB is too slow, the events wait for the
 * next read.
 */
function numberWaiting(deps: Deps, merchantId: string): Promise<boolean> {
  const until = performance.now() + numberingMs;
  let batchSize = numberingBatchSize * 2;
  const numberOnce = async (): Promise<boolean> => {
    batchSize = Math.ceil(batchSize / 2);
    const found = await deps.collections.events
      .find({ merchantId, sequence: 0 }, { projection: { state: 1, occurredAt: 1, 'data.memberVersion': 1 } })
      .limit(numberingReadSize)
      .toArray();
    const published = found.filter(({ state }) => state === 'published');
    const waiting = (published.length > 0 ? published : found).sort(inOrder);
    let last = await lastNumber(deps, merchantId);
    for (const some of toChunks(waiting, batchSize)) {
      const ids = some.map(({ _id }) => _id);
      await number(deps, { merchantId, ids, last });
      last += ids.length;
      if (performance.now() > until) return true;
    }
    return found.length === numberingReadSize || waiting.length < found.length;
  };
  return deps
    .runExclusive(counterId(merchantId), () => retryOnConflict(deps, numberOnce))
    .catch((error: unknown) => {
      if (error instanceof StillContended || isUnavailable(error)) return true;
      throw error;
    });
}

/**
 * Gives the events the numbers after `last` in their order. Throws VersionConflict when `last` is not the last number
 * any more, or when an event has a number already.
 */
async function number(
  deps: Deps,
  { merchantId, ids, last }: { merchantId: string; ids: string[]; last: number },
): Promise<void> {
  const _id = counterId(merchantId);
  const sequence = last + ids.length;
  const count: Statement =
    last === 0
      ? insert(deps, 'counters', { _id, merchantId, sequence })
      : update(deps, 'counters', { _id, sequence: last }, { $set: { sequence } });
  // One statement for all events: a statement for each would wait for the collection each time.
  const place = { $add: [last + 1, { $indexOfArray: [ids, '$_id'] }] };
  const numbered = updateMany(deps, 'events', { _id: { $in: ids }, sequence: 0 }, [{ $set: { sequence: place } }]);
  await transact(deps, [count, numbered], ids.length + (last === 0 ? 0 : 1));
}

/**
 * The first number after `after` whose event still exists, since events are deleted after 90 days; `end + 1` when there
 * is none. A reader can then skip the deleted numbers.
 */
async function firstKept(deps: Deps, { merchantId, after, end }: { merchantId: string; after: number; end: number }) {
  const [first] = await deps.collections.events
    .find({ merchantId, sequence: { $gt: after, $lte: end } }, { projection: { sequence: 1 } })
    .sort({ sequence: 1 })
    .limit(1)
    .toArray();
  return first?.sequence ?? end + 1;
}

/** Whether any event has a number beyond `sequence`. */
async function isNumbered(deps: Deps, { merchantId, sequence }: { merchantId: string; sequence: number }) {
  const beyond = { merchantId, sequence: { $gt: sequence } };
  return (await deps.collections.events.findOne(beyond, { projection: { _id: 1 } })) !== null;
}

export const notACursor = (): ServiceError =>
  new ServiceError('VALIDATION_FAILED', [{ path: 'after', message: 'is not a cursor of this feed' }]);

/** Throws VALIDATION_FAILED for a cursor that was never handed out, and UNAVAILABLE. */
export async function readFeed(deps: Deps, { merchantId, after, types, limit }: ReadFeed): Promise<FeedPage> {
  const window = types ? maxScannedEvents : limit;
  let end = await lastNumber(deps, merchantId, majorityRead);
  let waiting = false;
  // Waiting events are also numbered when numbered events fill the page: `more` depends on whether any event is
  // waiting.
  if (end - after <= window) {
    waiting = await within(numberWaiting(deps, merchantId), { ms: numberingWaitMs, fallback: true });
    end = await lastNumber(deps, merchantId, majorityRead);
  }
  if (after > end && after > (await lastNumber(deps, merchantId))) throw notACursor();
  // `end` was read before the events, so every event up to `end` is committed and visible, and the page skips none.
  const upTo = Math.min(after + window, end);
  const where: Filter<EventRow> = {
    merchantId,
    sequence: { $gt: after, $lte: upTo },
    ...(types && { type: { $in: [...types] } }),
  };
  const found = await deps.collections.events
    .find(where, { ...majorityRead, projection: { sequence: 1, envelope: 1 } })
    .toArray();
  const rows = found.sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0));
  const page = rows.slice(0, limit);
  const envelopes = page.flatMap((row) => row.envelope ?? []);
  let sequence = rows.length > limit ? (page.at(-1)?.sequence ?? upTo) : Math.max(upTo, after);
  if (rows.length === 0 && sequence < end)
    sequence = Math.max(sequence, (await firstKept(deps, { merchantId, after, end })) - 1);
  // `more` is also true for numbered events that a majority read does not show yet: a reader that continues until
  // `more` is false has read every event that existed. The query looks for events and not at their counter, because an
  // engine that makes a commit visible step by step shows the events first.
  const more = sequence < end || waiting || (await isNumbered(deps, { merchantId, sequence }));
  return { envelopes, sequence, more };
}
