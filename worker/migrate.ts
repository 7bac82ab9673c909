// Prepares the database: creates the indexes, then the built-in roles. The unique indexes protect balances and cannot
// be created later if rows already violate them, so the process does not start when one cannot be created.

import { pathToFileURL } from 'node:url';
import { type Collection, type IndexDescription, type IndexDescriptionInfo, MongoServerError } from 'mongodb';
import pino from 'pino';
import { readConfigOrExit } from '../platform/config/loadConfig.js';
import { createDeps } from '../platform/createDeps.js';
import type { Deps } from '../platform/deps.js';
import { update } from '../platform/mongodb/statements.js';
import { writeBulk } from '../platform/mongodb/transact.js';
import { collectionNames, indexes } from '../schemas/collections.js';
import { builtInRoles } from '../schemas/permissions.js';
import { moveSlugs } from './moveSlugs.js';

const nameOf = (key: Record<string, unknown>): string =>
  Object.entries(key)
    .map(([field, direction]) => `${field}_${direction}`)
    .join('_');

/**
 * Can run while the service is running, and in several processes at the same time. Throws when a unique index is
 * missing afterwards.
 */
export async function migrate(deps: Deps): Promise<{ indexes: number }> {
  let made = 0;
  for (const name of collectionNames) {
    const wanted = indexes[name].map(
      ({ reason, ...index }): IndexDescription => ({ ...index, name: nameOf(index.key) }),
    );
    if (wanted.length === 0) continue;
    const collection = deps.collections[name];
    await collection.createIndexes(wanted);
    const found = await collection.indexes();
    await dropOldExpiry(collection, { found, wanted });
    if (name === 'programs') await moveSlugs(deps, found);
    const present = new Set(found.map((index) => index.name));
    const missing = wanted.filter((index) => index.unique && !present.has(index.name));
    if (missing.length > 0)
      throw new Error(`Unique indexes are missing on ${name}: ${missing.map((index) => index.name).join(', ')}`);
    made += wanted.length;
  }
  await writeBulk(
    deps,
    Object.entries(builtInRoles).map(([_id, permissions]) =>
      update(deps, 'roles', { _id }, { $set: { merchantId: null, name: _id, permissions: [...permissions] } }, true),
    ),
  );
  return { indexes: made };
}

/** Drops the TTL indexes of earlier versions for rows that this version keeps. */
async function dropOldExpiry(
  collection: Pick<Collection, 'dropIndex'>,
  { found, wanted }: { found: IndexDescriptionInfo[]; wanted: IndexDescription[] },
): Promise<void> {
  const kept = new Set(wanted.map((index) => index.name));
  for (const { name = '', expireAfterSeconds } of found) {
    if (expireAfterSeconds === undefined || kept.has(name)) continue;
    await collection.dropIndex(name).catch((error: unknown) => {
      // Another process dropped it first.
      if (!(error instanceof MongoServerError && error.codeName === 'IndexNotFound')) throw error;
    });
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const config = readConfigOrExit();
  const deps = createDeps({ config, log: pino({ level: config.LOG_LEVEL }), timeouts: 'tool' });
  try {
    await migrate(deps);
  } finally {
    await deps.close();
  }
}
