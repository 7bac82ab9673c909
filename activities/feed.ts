// The pull feed: nothing can ever appear behind a cursor that was handed out. An event waits (sequence 0) from the moment its
// bytes are made, and gets the next number of its merchant only when the feed is read, in one transaction with the count;
// so whatever is committed late is numbered late, behind every cursor that anybody holds.
import type { Binary, Filter } from 'mongodb';
import type { EventRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import type { EventType } from '../schemas/events.js';
import type { Store } from './deps.js';
import { decideAgain, insert, type Statement, transact, update } from './transact.js';

export interface ReadFeed {
  merchantId: string;
  /** The last number that the reader has seen; 0 reads from the beginning of what is kept. */
  after: number;
  types?: readonly EventType[] | undefined;
  limit: number;
}

export interface FeedPage {
  envelopes: Binary[];
  /** Where to read on. */
  sequence: number;
  /** True when the next page can be read at once. */
  more: boolean;
}

/** So many events get their number in one transaction. */
const numberedAtOnce = 500;
/** So many events are looked through for the wanted types before a page is answered, full or not. */
const lookedThrough = 2_000;

/** What is read this way can not be taken back by a change of primaries, so a cursor never outlives its events. */
const settled = { readConcern: { level: 'majority' } } as const;

const counterId = (merchantId: string): string => `feed:${merchantId}`;

async function lastNumber(store: Store, merchantId: string, options = {}): Promise<number> {
  const counter = await store.rows.counters.findOne({ _id: counterId(merchantId) }, options);
  return counter?.sequence ?? 0;
}

const inOrder = (a: EventRow, b: EventRow): number =>
  a.occurredAt.getTime() - b.occurredAt.getTime() ||
  Number(a.data.memberVersion ?? 0) - Number(b.data.memberVersion ?? 0) ||
  (a._id < b._id ? -1 : 1);

/** Gives the next numbers to what waits, at most `numberedAtOnce`, and answers how many that were. */
function numberWaiting(store: Store, merchantId: string): Promise<number> {
  const attempt = async (): Promise<number> => {
    const last = await lastNumber(store, merchantId);
    const waiting = await store.rows.events
      .find({ merchantId, sequence: 0 }, { projection: { occurredAt: 1, 'data.memberVersion': 1 } })
      .limit(numberedAtOnce)
      .toArray();
    if (waiting.length === 0) return 0;
    const _id = counterId(merchantId);
    const sequence = last + waiting.length;
    const count: Statement =
      last === 0
        ? insert(store, 'counters', { _id, merchantId, sequence })
        : update(store, 'counters', { _id, sequence: last }, { $set: { sequence } });
    const numbered = waiting
      .sort(inOrder)
      .map((event, index) =>
        update(store, 'events', { _id: event._id, sequence: 0 }, { $set: { sequence: last + index + 1 } }),
      );
    await transact(store, [count, ...numbered], numbered.length + (last === 0 ? 0 : 1));
    return waiting.length;
  };
  return store.inTurn(counterId(merchantId), () => decideAgain(store, attempt));
}

/** What is kept 90 days is gone then; the first number that is still there, so that nobody reads through the gap. */
async function firstKept(store: Store, { merchantId, after, end }: { merchantId: string; after: number; end: number }) {
  const [first] = await store.rows.events
    .find({ merchantId, sequence: { $gt: after, $lte: end } }, { projection: { sequence: 1 } })
    .sort({ sequence: 1 })
    .limit(1)
    .toArray();
  return first?.sequence ?? end + 1;
}

/** Whether any event has a number beyond `sequence`. */
async function isNumbered(store: Store, { merchantId, sequence }: { merchantId: string; sequence: number }) {
  const beyond = { merchantId, sequence: { $gt: sequence } };
  return (await store.rows.events.findOne(beyond, { projection: { _id: 1 } })) !== null;
}

export const notACursor = (): ServiceError =>
  new ServiceError('VALIDATION_FAILED', [{ path: 'after', message: 'is not a cursor of this feed' }]);

/** Throws VALIDATION_FAILED for a cursor that was never handed out, and UNAVAILABLE. */
export async function readFeed(store: Store, { merchantId, after, types, limit }: ReadFeed): Promise<FeedPage> {
  const window = types ? lookedThrough : limit;
  let end = await lastNumber(store, merchantId, settled);
  let numbered = 0;
  // Also where the page is full without it: whether there is more is asked of those that have no number yet.
  if (end - after <= window) {
    numbered = await numberWaiting(store, merchantId);
    end = await lastNumber(store, merchantId, settled);
  }
  if (after > end && after > (await lastNumber(store, merchantId))) throw notACursor();
  // `end` was read first: everything up to it is committed, so nothing is skipped that is only just becoming visible.
  const upTo = Math.min(after + window, end);
  const where: Filter<EventRow> = {
    merchantId,
    sequence: { $gt: after, $lte: upTo },
    ...(types && { type: { $in: [...types] } }),
  };
  const found = await store.rows.events.find(where, { ...settled, projection: { sequence: 1, envelope: 1 } }).toArray();
  const rows = found.sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0));
  const page = rows.slice(0, limit);
  const envelopes = page.flatMap((row) => row.envelope ?? []);
  let sequence = rows.length > limit ? (page.at(-1)?.sequence ?? upTo) : Math.max(upTo, after);
  if (rows.length === 0 && sequence < end)
    sequence = Math.max(sequence, (await firstKept(store, { merchantId, after, end })) - 1);
  // What is numbered and not settled yet is worth asking for at once: who reads to the end has then read all there was. The
  // events are asked, and not their count: an engine whose commits become visible piece by piece shows them first.
  const more = sequence < end || numbered === numberedAtOnce || (await isNumbered(store, { merchantId, sequence }));
  return { envelopes, sequence, more };
}
