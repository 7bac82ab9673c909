// pg-boss: the job is sent in the transaction of the change. A worker polls at most twice a second, so it takes many
// jobs at once.
import PgBoss from 'pg-boss';
import { createDelivery, firstWaitSeconds, mostAttempts, type StoredEvent } from './delivery.js';
import { type Engine, eventMaker } from './engine.js';
import { changeBy, countAttempts, createDatabase, databaseOf, inTransaction, logAttempt, poolOf } from './postgres.js';

const queue = 'deliver';
const workers = 2;
const batchSize = 500;
const pollingIntervalSeconds = 0.5;

export const pgBoss: Engine = {
  async startCaller(place) {
    await createDatabase(place);
    const pool = poolOf(place);
    const boss = new PgBoss({ connectionString: databaseOf(place), supervise: false, schedule: false });
    await boss.start();
    await boss.createQueue(queue);
    const makeEvent = eventMaker(place);
    const retries = { retryLimit: mostAttempts - 1, retryDelay: firstWaitSeconds, retryBackoff: true };
    return {
      change: (memberId) =>
        inTransaction(pool, async (query) => {
          const event = await changeBy(query, memberId, makeEvent);
          const executeSql = async (text: string, values: unknown[]) => ({ rows: await query(text, values) });
          await boss.send(queue, event, { ...retries, db: { executeSql } });
        }),
      logged: () => countAttempts(pool),
    };
  },
  async startWorker(place) {
    const pool = poolOf(place);
    const deliver = createDelivery(place.url, (attempt) => logAttempt(pool, attempt));
    const boss = new PgBoss(databaseOf(place));
    await boss.start();
    for (let index = 0; index < workers; index += 1)
      await boss.work<StoredEvent>(queue, { batchSize, pollingIntervalSeconds }, async (jobs) => {
        // The others of the batch are complete, although one failed.
        await Promise.all(jobs.map(({ id, data }) => deliver(data).catch((error) => boss.fail(queue, id, { error }))));
      });
  },
};
