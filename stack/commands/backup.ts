// Writes all rows, as they were at one moment, into a folder. The folder appears when it is complete and was read back.
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Deps } from '../../platform/deps.js';
import { readSnapshot } from '../../platform/mongodb/readSnapshot.js';
import { toError } from '../../platform/toError.js';
import { lastBackupId } from '../../schemas/shared/service.rows.js';
import { collectionNames } from '../../schemas/tables/collections.js';
import { checkBackup, isBackedUp, type Manifest, manifestFile, rowsFile, writeRows } from './backupFolder.js';
import { type Command, type CommandContext, type CommandInput, Mistakes, main } from './command.js';

export function oneFolder({ args }: CommandInput): string {
  const [folder = '', ...rest] = args;
  if (folder === '' || rest.length > 0) throw new Mistakes(['name one folder']);
  return resolve(folder);
}

async function backUp({ deps, config, say, progress }: CommandContext, input: CommandInput): Promise<void> {
  const folder = oneFolder(input);
  if (existsSync(folder)) throw new Mistakes([`${folder} is there already: name a new folder`]);
  const draft = `${folder}.part`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const { MONGODB_DATABASE: database } = config;
  const written = await readSnapshot(deps.mongo, async (session) => {
    const createdAt = deps.now().toISOString();
    const collections: Manifest['collections'] = {};
    for (const name of collectionNames.filter(isBackedUp)) {
      const rows = deps.mongo.db(database).collection(name).find<Uint8Array>({}, { session, raw: true });
      collections[name] = await writeRows(rowsFile(draft, name), rows);
      progress(`${name}: ${collections[name].rows} rows`);
    }
    return { createdAt, database, collections };
  });
  const rows = Object.values(written.collections).reduce((sum, each) => sum + each.rows, 0);
  if (rows === 0) throw new Mistakes([`the database "${database}" holds no rows`]);
  await writeFile(join(draft, manifestFile), `${JSON.stringify(written, null, 1)}\n`, { mode: 0o600, flush: true });
  await checkBackup(draft);
  await rename(draft, folder);
  say(`${rows} rows as they were at ${written.createdAt}, in ${folder}`);
  say('keep SECRETS_KEY for them, in another place: webhook secrets and mails are sealed with it');
  // A user of the database who may only read is enough for a backup.
  await noteBackup(deps, written).catch((error: unknown) =>
    say(`lps_last_backup_timestamp_seconds stays as it was: ${toError(error).message}`),
  );
}

/** For the metric of the last backup. */
export async function noteBackup({ collections }: Pick<Deps, 'collections'>, { createdAt }: Manifest): Promise<void> {
  const at = new Date(createdAt);
  await collections.probes.updateOne({ _id: lastBackupId }, { $set: { at } }, { upsert: true });
}

export const backup: Command = {
  name: 'backup',
  mongodbOnly: true,
  verbs: {
    '': {
      usage: 'FOLDER',
      does: 'writes all rows, as they were at one moment, into a new folder, also while the service runs',
      example: 'backups/2026-11-25',
      takesWords: true,
      audit: null,
      run: backUp,
    },
  },
};

if (process.argv[1]?.match(/commands\/backup\.[jt]s$/)) await main(backup);
