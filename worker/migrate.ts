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
import { codeForm } from '../schemas/shared/text.js';
import { indexes } from '../schemas/tables/collections.js';
import { addPhoneNumbers } from './addPhoneNumbers.js';
import { addSearchWords } from './addSearchWords.js';
import { moveSlugs } from './moveSlugs.js';
import { findIndexes, reconcileIndexes } from './reconcileIndexes.js';

/** Can run while the service is running, and in several processes at the same time. */
export async function migrate(deps: Deps): Promise<{ indexes: number }> {
  const found = await findIndexes(deps);
  await moveSlugs(deps, found.programs);
  await reconcileIndexes(deps, found);
  await addCodes(deps);
  await addPhoneNumbers(deps);
  await addSearchWords(deps);
  await writeBulk(
    deps,
    Object.entries(builtInRoles).map(([_id, permissions]) =>
      update(deps, 'roles', { _id }, { $set: { merchantId: null, name: _id, permissions: [...permissions] } }, true),
    ),
  );
  return { indexes: Object.values(indexes).flat().length };
}

/** External ids of earlier versions lack the form that is compared with new member codes. */
async function addCodes(deps: Deps): Promise<void> {
  const read = () =>
    deps.collections.externalIds
      .find({ code: { $exists: false } })
      .limit(1_000)
      .toArray();
  for (let rows = await read(); rows.length > 0; rows = await read())
    await writeBulk(
      deps,
      rows.map(({ _id, externalId }) => update(deps, 'externalIds', { _id }, { $set: { code: codeForm(externalId) } })),
    );
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
