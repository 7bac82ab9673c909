// Prepares the database: the indexes, then the built-in roles. The unique indexes protect balances and cannot be built
// later if rows already violate them, so the process does not start when one cannot be built.

import { pathToFileURL } from 'node:url';
import pino from 'pino';
import { readConfigOrExit } from '../platform/config/loadConfig.js';
import { createDeps } from '../platform/createDeps.js';
import type { Deps } from '../platform/deps.js';
import { update } from '../platform/mongodb/statements.js';
import { writeBulk } from '../platform/mongodb/transact.js';
import { builtInRoles } from '../schemas/access/permissions.schema.js';
import { indexes } from '../schemas/tables/collections.js';
import { addPhoneNumbers } from './addPhoneNumbers.js';
import { addVisits } from './addVisits.js';
import { findIndexes, reconcileIndexes } from './reconcileIndexes.js';

/** Can run while the service is running, and in several processes at the same time. */
export async function migrate(deps: Deps): Promise<{ indexes: number }> {
  await reconcileIndexes(deps, await findIndexes(deps));
  await addPhoneNumbers(deps);
  await addVisits(deps);
  await writeBulk(
    deps,
    Object.entries(builtInRoles).map(([_id, permissions]) =>
      update(deps, 'roles', { _id }, { $set: { merchantId: null, name: _id, permissions: [...permissions] } }, true),
    ),
  );
  return { indexes: Object.values(indexes).flat().length };
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
