// graphile-worker: the job is added in the transaction of the change; the worker has the batches of its page on
// performance.
import { Logger, run, runMigrations } from 'graphile-worker';
import { createDelivery, mostAttempts, type StoredEvent } from './delivery.js';
import { type Engine, eventMaker } from './engine.js';
import { changeBy, countAttempts, createDatabase, databaseOf, inTransaction, logAttempt, poolOf } from './postgres.js';

const logger = new Logger(() => () => {});

export const graphileWorker: Engine = {
  async startCaller(place) {
    await createDatabase(place);
    await runMigrations({ connectionString: databaseOf(place), logger });
    const pool = poolOf(place);
    const makeEvent = eventMaker(place);
    return {
      change: (memberId) =>
        inTransaction(pool, async (query) => {
          const event = await changeBy(query, memberId, makeEvent);
          await query('SELECT graphile_worker.add_job($1, $2::json, max_attempts => $3)', [
            'deliver',
            JSON.stringify(event),
            mostAttempts,
          ]);
        }),
      logged: () => countAttempts(pool),
    };
  },
  async startWorker(place) {
    const pool = poolOf(place);
    const deliver = createDelivery(place.url, (attempt) => logAttempt(pool, attempt));
    await run({
      noHandleSignals: true,
      // It prints a line for each job otherwise.
      logger,
      taskList: { deliver: (payload) => deliver(payload as StoredEvent) },
      preset: {
        worker: {
          connectionString: databaseOf(place),
          concurrentJobs: 24,
          maxPoolSize: 25,
          localQueue: { size: 500 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
    });
  },
};
