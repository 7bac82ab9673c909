// Writes the delivery log. Attempts that finish at the same time share one insert and one bulk write. The first attempt
// inserts the row of its delivery. A later failure is always added to the history, but it sets the delivery's state
// only when its attempt still holds the delivery's fence. A success always sets the state, and failures after a success
// are not logged. A write that fails is repeated, because an attempt that is not logged is made again.
import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '../../platform/batcher.js';
import type { Deps } from '../../platform/deps.js';
import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import { isUnavailable } from '../../platform/mongodb/isUnavailable.js';
import { update } from '../../platform/mongodb/statements.js';
import { StillContended } from '../../platform/mongodb/stillContended.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import type { DeliveryRow } from '../../schemas/collections.js';
import { maxLogMs, outOfQueue } from './deliveryQueue.js';

export interface DeliveryRecord {
  deliveryId: string;
  /** The delivery as it was when the attempt began; set when the log may not have its row yet. */
  unlogged?: DeliveryRow | undefined;
  /** The delivery's fence when the attempt began. */
  fence: string | undefined;
  set: Partial<DeliveryRow>;
  attempt: DeliveryRow['history'][number];
}

export type LogAttempt = (record: DeliveryRecord) => Promise<void>;

const logBatcherOptions = { batchSize: 200, concurrency: 1 };
const maxHistory = 100;

const pauseMs = 250;

export function createLogAttempt(deps: Deps): LogAttempt {
  return createBatcher(async (records: DeliveryRecord[]) => {
    const until = performance.now() + maxLogMs;
    for (;;) {
      try {
        await write(deps, records);
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
async function write(deps: Deps, records: DeliveryRecord[]): Promise<void> {
  const known = new Set(await insertMissing(deps.collections.deliveries, records.flatMap(firstRow)));
  await writeBulk(
    deps,
    records
      .filter(({ unlogged, deliveryId }) => !unlogged || known.has(deliveryId))
      .flatMap((record) => statementsOf(deps, record)),
  );
}

function firstRow({ unlogged, set, attempt }: DeliveryRecord): DeliveryRow[] {
  return unlogged ? [{ ...unlogged, ...set, attempts: 1, history: [attempt] }] : [];
}

function statementsOf(deps: Deps, { deliveryId, fence, set, attempt }: DeliveryRecord): Statement[] {
  // The start of an attempt identifies it within its delivery.
  const unlogged = { _id: deliveryId, 'history.at': { $ne: attempt.at } };
  const logged = { $inc: { attempts: 1 }, $push: { history: { $each: [attempt], $slice: -maxHistory } } };
  const isOver = set.state !== undefined && set.state !== 'pending' && set.state !== 'retrying';
  const setState = { $set: set, ...(isOver && outOfQueue), ...logged };
  if (set.success) return [update(deps, 'deliveries', unlogged, setState)];
  // A delivery that has succeeded in the meantime is not changed by a failure.
  const open = { ...unlogged, state: { $ne: 'succeeded' } };
  const [same, other] = fence === undefined ? [{ $exists: false }, { $exists: true }] : [fence, { $ne: fence }];
  return [
    update(deps, 'deliveries', { ...open, fence: same }, setState),
    update(deps, 'deliveries', { ...open, fence: other }, logged),
  ];
}
