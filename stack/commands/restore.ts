// Puts the rows of a backup in the place of those of the database, and reads them back. Nothing is changed unless the
// whole backup is what was written, and no data is overwritten unasked.
import { BSON } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { newRebuild } from '../../schemas/batches/newBatch.rules.js';
import { migrate } from '../../worker/migrate.js';
import { noteBackup, oneFolder } from './backup.js';
import { checkBackup, createSummary, isBackedUp, isSame, readRows, rowsFile } from './backupFolder.js';
import { type Command, type CommandContext, type CommandInput, Mistakes, main } from './command.js';

const chunkRows = 200;
const chunkBytes = 8 * 1024 * 1024;

/** Values keep their type: a number that was stored as a double stays one. */
const asStored = { promoteValues: false, promoteLongs: false, promoteBuffers: false, bsonRegExp: true };

type Database = ReturnType<Deps['mongo']['db']>;

async function insertRows(database: Database, name: string, file: string): Promise<void> {
  let chunk: Buffer[] = [];
  let bytes = 0;
  const insert = async () => {
    if (chunk.length === 0) return;
    await database.collection(name).insertMany(chunk.map((row) => BSON.deserialize(row, asStored)));
    [chunk, bytes] = [[], 0];
  };
  for await (const row of readRows(file)) {
    chunk.push(Buffer.from(row));
    bytes += row.length;
    if (chunk.length === chunkRows || bytes > chunkBytes) await insert();
  }
  await insert();
}

async function restoreAll(context: CommandContext, input: CommandInput): Promise<void> {
  const { deps, config, say, progress } = context;
  const folder = oneFolder(input);
  progress('reading the backup');
  const manifest = await checkBackup(folder);
  const { collections, createdAt } = manifest;
  const database = deps.mongo.db(config.MONGODB_DATABASE);
  const listed = await database.listCollections({}, { nameOnly: true }).toArray();
  const present = listed.map(({ name }) => name).filter((name) => !name.startsWith('system.') && isBackedUp(name));
  if (input.values.replace !== true)
    for (const name of present)
      if (await database.collection(name).findOne())
        throw new Mistakes([
          `the database "${config.MONGODB_DATABASE}" holds data (${name}): --replace removes all of it; nothing was changed`,
        ]);
  for (const name of present) await database.dropCollection(name);
  const differing: string[] = [];
  for (const [name, expected] of Object.entries(collections)) {
    await insertRows(database, name, rowsFile(folder, name));
    const summary = createSummary();
    for await (const row of database.collection(name).find<Uint8Array>({}, { raw: true })) summary.add(row);
    progress(`${name}: ${expected.rows} rows`);
    if (!isSame(summary.result(), expected)) differing.push(`${name} has other rows than the backup`);
  }
  if (differing.length > 0) throw new Mistakes([...differing, 'does something else write? Stop it and repeat this']);
  await migrate(deps);
  await pushPasses(deps);
  await noteBackup(deps, manifest);
  say(`restored the state of ${createdAt}; every row was read back`);
  say('before the service starts: npm run -s merchants -- re-erase FILE, with the erasures since then');
}

/**
 * Wallets may show what came after the backup, under newer versions than the restored ones. So each program with
 * members gets a batch that gives its passes new versions and pushes them, once a worker runs: those that were on
 * phones when the backup was made.
 */
async function pushPasses(deps: Deps): Promise<void> {
  const { programs, members, batches } = deps.collections;
  const rebuilds: BatchRow[] = [];
  for await (const { _id: programId, merchantId } of programs.find({}, { projection: { merchantId: 1 } })) {
    if (!(await members.findOne({ merchantId, programId }, { projection: { _id: 1 } }))) continue;
    const startedBy = { type: 'user', id: 'operator' } as const;
    rebuilds.push(newRebuild(deps, { merchantId, programId, startedBy }));
  }
  if (rebuilds.length > 0) await batches.insertMany(rebuilds);
}

export const restore: Command = {
  name: 'restore',
  mongodbOnly: true,
  verbs: {
    '': {
      usage: 'FOLDER [--replace]',
      does: 'puts a backup into an empty database, or with --replace in place of its data; API and worker must be stopped',
      example: 'backups/2026-11-25',
      options: { replace: { type: 'boolean' } },
      takesWords: true,
      audit: null,
      run: restoreAll,
    },
  },
};

if (process.argv[1]?.match(/commands\/restore\.[jt]s$/)) await main(restore);
