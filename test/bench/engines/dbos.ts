// DBOS: one workflow for each change in the caller's own process, with the change as its transaction and the delivery
// as its step.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { PostgresDataSource } from '@dbos-inc/postgres-datasource';
import { createDelivery, firstWaitSeconds, mostAttempts } from './delivery.js';
import { type Engine, eventMaker } from './engine.js';
import { changeBy, countAttempts, createDatabase, databaseOf, logAttempt, poolOf } from './postgres.js';

export const dbos: Engine = {
  async startCaller(place) {
    await createDatabase(place);
    const pool = poolOf(place);
    const { hostname: host, port, username } = new URL(place.address);
    const source = new PostgresDataSource('app', { host, port: Number(port), username, database: place.name });
    const makeEvent = eventMaker(place);
    const deliver = createDelivery(place.url, (attempt) => logAttempt(pool, attempt));
    const query = async (text: string, values: unknown[]) => [...(await source.client.unsafe(text, values))];
    const effect = DBOS.registerWorkflow(
      async (memberId: string) => {
        const event = await source.runTransaction(() => changeBy(query, memberId, makeEvent), { name: 'change' });
        await DBOS.runStep(() => deliver(event), {
          name: 'deliver',
          retriesAllowed: true,
          maxAttempts: mostAttempts,
          intervalSeconds: firstWaitSeconds,
          backoffRate: 2,
        });
      },
      { name: 'effect' },
    );
    DBOS.setConfig({
      name: place.name,
      systemDatabaseUrl: `${databaseOf(place)}_system`,
      systemDatabasePoolSize: 20,
      runAdminServer: false,
      logLevel: 'error',
    });
    await DBOS.launch();
    return { change: effect, logged: () => countAttempts(pool) };
  },
};
