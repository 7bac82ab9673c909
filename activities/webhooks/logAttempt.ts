// The log of attempts: one write for whatever is to be logged just then, and one for a delivery and its first attempt. How a
// delivery stands after a failure is said only by whoever still carries it; that there was an attempt is said by whoever made it.
import type { DeliveryRow } from '../../schemas/collections.js';
import type { Store } from '../deps.js';
import { gather } from '../gather.js';
import { insertNew } from '../insertNew.js';
import { type Statement, update, writeTogether } from '../transact.js';

export interface DeliveryRecord {
  deliveryId: string;
  /** The delivery as it was when the attempt began, where it may not be in the log yet. */
  unlogged?: DeliveryRow | undefined;
  /** The delivery's fence as it was when the attempt began. */
  fence: string | undefined;
  set: Partial<DeliveryRow>;
  attempt: DeliveryRow['history'][number];
}

export type LogAttempt = (record: DeliveryRecord) => Promise<void>;

const logTogether = { max: 200, atOnce: 1 };
const keptAttempts = 100;

export function createLogAttempt(store: Store): LogAttempt {
  return gather(async (records: DeliveryRecord[]) => {
    const known = new Set(await insertNew(store.rows.deliveries, records.flatMap(firstRow)));
    await writeTogether(
      store,
      records
        .filter(({ unlogged, deliveryId }) => !unlogged || known.has(deliveryId))
        .flatMap((record) => statementsOf(store, record)),
    );
    return records.map(() => undefined);
  }, logTogether);
}

function firstRow({ unlogged, set, attempt }: DeliveryRecord): DeliveryRow[] {
  return unlogged ? [{ ...unlogged, ...set, attempts: 1, history: [attempt] }] : [];
}

function statementsOf(store: Store, { deliveryId: _id, fence, set, attempt }: DeliveryRecord): Statement[] {
  const logged = { $inc: { attempts: 1 }, $push: { history: { $each: [attempt], $slice: -keptAttempts } } };
  if (set.success) return [update(store, 'deliveries', { _id }, { $set: set, ...logged })];
  // What succeeded meanwhile keeps its story.
  const open = { _id, state: { $ne: 'succeeded' } };
  const [same, other] = fence === undefined ? [{ $exists: false }, { $exists: true }] : [fence, { $ne: fence }];
  return [
    update(store, 'deliveries', { ...open, fence: same }, { $set: set, ...logged }),
    update(store, 'deliveries', { ...open, fence: other }, logged),
  ];
}
