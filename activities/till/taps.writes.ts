// Counts the taps of readers. A tap that arrives is a row, written in the transaction of its change, so that no tap
// which changed something is ever called missing. `countTaps` moves the rows into the row of their reader.
import { z } from 'zod';
import type { Deps } from '../../platform/deps.js';
import { isDuplicateKey } from '../../platform/mongodb/conflicts.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert, remove, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { counted, withArrivals } from '../../schemas/till/taps.rules.js';
import type { ReaderRow, TapRow } from '../../schemas/till/till.rows.js';
import { sequence } from '../../schemas/till/till.schema.js';

/** A tap of a reader that is paired. */
export interface Tap {
  reader: Pick<ReaderRow, '_id' | 'merchantId' | 'pairings'>;
  sequence: number;
}

function rowOf(deps: Pick<Deps, 'now'>, { reader: { _id: readerId, merchantId, pairings }, sequence }: Tap): TapRow {
  const _id = `${readerId}:${pairings}:${sequence}`;
  return { _id, merchantId, readerId, pairing: pairings, sequence, at: deps.now() };
}

/** The statement that says that the tap arrived; none when it is known. */
export async function tapStatements(deps: Deps, tap: Tap): Promise<Statement[]> {
  const row = rowOf(deps, tap);
  const { _id, merchantId } = row;
  const known = await deps.collections.taps.findOne({ _id, merchantId }, { projection: { _id: 1 } });
  return known ? [] : [insert(deps, 'taps', row)];
}

const tapped = z.object({ sequence });

/** Otherwise the same request may succeed later. */
const isFinal = (error: unknown): boolean =>
  error instanceof ServiceError && error.status < 500 && error.code !== 'IDEMPOTENCY_KEY_IN_USE';

/** A tap that was refused has arrived, too, because the till does not repeat it. `body` is as it was sent. */
export async function noteRefusal(
  deps: Deps,
  { reader, body, error }: { reader: ReaderRow | undefined; body: unknown; error: unknown },
): Promise<void> {
  const { data } = tapped.safeParse(body);
  if (!reader || !data || !isFinal(error)) return;
  try {
    await transact({ ...deps, audit: [] }, [insert(deps, 'taps', rowOf(deps, { reader, ...data }))], 0);
  } catch (failure) {
    if (!isDuplicateKey(failure)) throw failure;
  }
}

const countedAtOnce = 10_000;

type Counts = Pick<ReaderRow, 'taps' | 'former'>;

/** A tap that was under way while another device was paired belongs to the pairing of its own device. */
function countsWith({ taps, former, pairings }: ReaderRow, rows: readonly TapRow[]): Counts {
  const of = (pairing: number) => rows.filter((row) => row.pairing === pairing);
  return {
    taps: withArrivals(taps, of(pairings)),
    former: former.map((each) => ({ ...each, ...withArrivals(each, of(each.pairing)) })),
  };
}

const uncounted = (deps: Pick<Deps, 'collections'>, { _id: readerId, merchantId }: ReaderRow): Promise<TapRow[]> =>
  deps.collections.taps.find({ readerId, merchantId }).sort({ sequence: 1 }).limit(countedAtOnce).toArray();

/** The taps of a reader with the rows that are not counted in it yet, and the statements that remove these rows. */
export async function countTaps(deps: Deps, reader: ReaderRow): Promise<Counts & { statements: Statement[] }> {
  const rows = await uncounted(deps, reader);
  const ids = rows.map(({ _id }) => _id);
  return {
    ...countsWith(reader, rows),
    statements: ids.length > 0 ? [remove(deps, 'taps', { _id: { $in: ids }, merchantId: reader.merchantId })] : [],
  };
}

/** The reader as it is, with all taps that have arrived. */
export async function readerNow(deps: Deps, reader: ReaderRow): Promise<ReaderRow> {
  const { _id, merchantId } = reader;
  // The rows first: those that are counted between the two reads are then in both, and count once.
  const rows = await uncounted(deps, reader);
  const present = (await deps.collections.readers.findOne({ _id, merchantId })) ?? reader;
  return { ...present, ...countsWith(present, rows) };
}

export interface Hello {
  lastSequence?: number | undefined;
  waiting?: number | undefined;
}

/** Stores how far the device has counted. `reader` is as it was read with the device's token. */
export function noteHello(deps: Deps, reader: ReaderRow, { lastSequence, waiting }: Hello): Promise<void> {
  const { _id, merchantId, pairings } = reader;
  return retryOnConflict(deps, async () => {
    const present = await deps.collections.readers.findOne({ _id, merchantId });
    if (present?.pairings !== pairings) return;
    const { taps, former, statements } = await countTaps(deps, present);
    const now = deps.now();
    const set = {
      former,
      taps: lastSequence === undefined ? taps : counted(taps, lastSequence, now),
      lastSeenAt: now,
      ...(waiting !== undefined && { waiting }),
      version: present.version + 1,
    };
    const noted = update(deps, 'readers', { _id, merchantId, version: present.version }, { $set: set });
    await transact({ ...deps, audit: [] }, [noted, ...statements], 1);
  });
}

/** After so many taps their rows are counted, also for a device that never says hello. */
const countedEvery = 200;

export function countSometimes(deps: Deps, { reader, sequence }: { reader: ReaderRow; sequence: number }): void {
  if (sequence % countedEvery !== 0) return;
  noteHello(deps, reader, {}).catch((error: unknown) =>
    deps.log.debug({ err: error, readerId: reader._id }, 'the taps of a reader were not counted'),
  );
}
