// Prepares the database: indexes first. A unique index guards money and cannot be made later beside rows that break it, so
// one that cannot be made stops the boot.

import { pathToFileURL } from 'node:url';
import type { IndexDescription } from 'mongodb';
import pino from 'pino';
import type { Store } from '../activities/deps.js';
import { readConfigOrExit } from '../activities/readConfigOrExit.js';
import { openStore } from '../activities/store.js';
import { collectionNames, indexes } from '../schemas/collections.js';
import { builtInRoles } from '../schemas/permissions.js';

const nameOf = (key: Record<string, unknown>): string =>
  Object.entries(key)
    .map(([field, direction]) => `${field}_${direction}`)
    .join('_');

/** Safe to run beside a live service and twice at once. Throws when a unique index is missing afterwards. */
export async function migrate(store: Store): Promise<{ indexes: number }> {
  let made = 0;
  for (const name of collectionNames) {
    const wanted = indexes[name].map(
      ({ reason, ...index }): IndexDescription => ({ ...index, name: nameOf(index.key) }),
    );
    if (wanted.length === 0) continue;
    const collection = store.rows[name];
    await collection.createIndexes(wanted);
    const present = new Set((await collection.indexes()).map((index) => index.name));
    const missing = wanted.filter((index) => index.unique && !present.has(index.name));
    if (missing.length > 0)
      throw new Error(`Unique indexes are missing on ${name}: ${missing.map((index) => index.name).join(', ')}`);
    made += wanted.length;
  }
  await store.rows.roles.bulkWrite(
    Object.entries(builtInRoles).map(([_id, permissions]) => ({
      updateOne: {
        filter: { _id },
        update: { $set: { merchantId: null, name: _id, permissions: [...permissions] } },
        upsert: true,
      },
    })),
  );
  return { indexes: made };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const config = readConfigOrExit();
  const store = openStore({ config, log: pino({ level: config.LOG_LEVEL }), patience: 'tool' });
  try {
    await migrate(store);
  } finally {
    await store.close();
  }
}
