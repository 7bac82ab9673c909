// Room for gestures. A workflow of its own makes a gesture easy to find and takes tens of times the processor that the relay
// takes for it, so there are only as many as the machine carries. Where bulk work holds gestures up, those that nobody
// waits for do without, and bulk is told, so that it rests (activities/courtesy.ts).
import type { Store } from '../activities/deps.js';
import { bulkPhases } from '../schemas/batches.js';
import { slowdownId } from '../schemas/collections.js';
import { createGesturePace, type Timed } from './gesturePace.js';
import { createWorkflowBudget } from './workflowBudget.js';

export interface GestureRoom {
  /** Passes on what the transaction of a gesture made; how long it took counts. */
  timed<T>(transaction: () => Promise<T>): Promise<T>;
  /** Takes one of the workflows of their own that gestures may have; false leaves the event to the relay. */
  takeWorkflow(awaited: boolean): boolean;
}

const lookEveryMs = 500;
/** Gestures that take up to so many times what they take otherwise are not held up. */
const tolerated = 1.3;
/** Workflows that are had again at once would hold gestures up again at once. */
const withoutForMs = 60_000;

export function createGestureRoom(
  store: Pick<Store, 'rows' | 'config' | 'log' | 'metrics' | 'now'>,
  clock: () => number = () => performance.now(),
): GestureRoom {
  const takeFromBudget = createWorkflowBudget(store.config.GESTURE_WORKFLOWS_PER_SECOND, clock);
  const pace = createGesturePace();
  let unjudged: Timed[] = [];
  let lookedAt = Number.NEGATIVE_INFINITY;
  let heldUpAt = Number.NEGATIVE_INFINITY;
  let bulkAtWork = false;

  /** What was done between two looks was done beside bulk when either saw some. */
  async function look(): Promise<void> {
    const done = unjudged;
    unjudged = [];
    const { batches, slowdowns } = store.rows;
    const found = await batches.findOne({ phase: { $in: [...bulkPhases] } }, { projection: { _id: 1 } });
    const besideBulk = bulkAtWork || found !== null;
    bulkAtWork = found !== null;
    pace.took(done, besideBulk);
    const times = besideBulk ? pace.slowdown(clock()) : 1;
    store.metrics.slowdown(times);
    if (times <= tolerated) return;
    heldUpAt = clock();
    await slowdowns.updateOne({ _id: slowdownId }, { $set: { times, at: store.now() } }, { upsert: true });
  }

  function lookSometimes(): void {
    if (clock() - lookedAt < lookEveryMs) return;
    lookedAt = clock();
    look().catch((error: unknown) => store.log.debug({ err: error }, 'whether bulk work is under way is not known'));
  }

  return {
    async timed(transaction) {
      lookSometimes();
      const begunAt = clock();
      const made = await transaction();
      const endedAt = clock();
      unjudged.push({ ms: endedAt - begunAt, endedAt });
      return made;
    },
    takeWorkflow(awaited) {
      const without = bulkAtWork && clock() - heldUpAt < withoutForMs;
      return (awaited || !without) && takeFromBudget(awaited);
    },
  };
}
