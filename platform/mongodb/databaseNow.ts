import type { Deps } from '../deps.js';

/** The time of MongoDB's clock, for times that different processes compare: their own clocks may differ. */
export async function databaseNow({ mongo, config }: Pick<Deps, 'mongo' | 'config'>): Promise<Date> {
  const { localTime } = await mongo.db(config.MONGODB_DATABASE).command({ hello: 1 });
  return localTime;
}
