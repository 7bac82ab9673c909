// `npm run backup` and `npm run restore`: a copy of one moment, made while others write; the same rows again after
// everything was lost; and nothing overwritten unasked.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Binary, Double, Int32, Long } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readLastBackup } from '../../../activities/events/outbox.reads.js';
import { verifyLedger } from '../../../activities/points/verifyLedger.reads.js';
import { newId } from '../../../schemas/shared/ids.js';
import { backup } from '../../../stack/commands/backup.js';
import { migrate } from '../../../stack/commands/migrate.js';
import { restore } from '../../../stack/commands/restore.js';
import { until } from '../../rig/checks/until.js';
import { runOn } from '../../rig/start/commandLine.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const root = join(import.meta.dirname, '..', '..', '..');
let service: TestService;
let merchant: TestMerchant;
let folder: string;
const members: string[] = [];
let programId: string;

beforeAll(async () => {
  service = await startService();
  merchant = await aMerchant(service);
  folder = await mkdtemp(join(tmpdir(), 'backup-'));
  programId = (await merchant.program())._id;
  for (let turn = 0; turn < 40; turn += 1) members.push((await merchant.enroll({ programId, initialPoints: 100 })).id);
  const values = { double: new Double(5), int: new Int32(5), long: Long.fromString('9007199254740993') };
  const others = { bytes: new Binary(Buffer.from([0, 255])), at: new Date(-1), none: null, text: 'é\u0000' };
  const { MONGODB_DATABASE } = service.deps.config;
  await service.deps.mongo
    .db(MONGODB_DATABASE)
    .collection('nonces')
    .insertOne({ ...values, ...others });
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const at = (name: string) => join(folder, name);
const manifestOf = (name: string) => JSON.parse(readFileSync(join(at(name), 'backup.json'), 'utf8'));
const collectionsOf = (name: string) => manifestOf(name).collections;
const madeAt = (name: string) => new Date(manifestOf(name).createdAt);
/** Without the batches, to which a restore adds one for each program, so that its passes are pushed. */
const keptRowsOf = (name: string) => ({ ...collectionsOf(name), batches: undefined });

/** Changes points until it is ended; counts the changes that were acknowledged. */
function startLoad(callers: number) {
  let [isOver, acknowledged] = [false, 0];
  const call = async (first: number) => {
    for (let turn = first; !isOver; turn += 7) {
      const path = `/merchants/me/members/${members[turn % members.length]}/points`;
      const { status } = await merchant.call(path, { method: 'PATCH', body: { delta: 1 } });
      if (status === 200) acknowledged += 1;
    }
  };
  const ended = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
  return {
    acknowledged: () => acknowledged,
    end: () => {
      isOver = true;
      return ended;
    },
  };
}

it('a copy that is made under load is of one moment, and has all that was acknowledged before', async () => {
  const load = startLoad(4);
  await expect.poll(load.acknowledged).toBeGreaterThan(20);
  const before = load.acknowledged();
  const made = await runOn(service, backup, [at('loaded')]);
  const during = load.acknowledged() - before;
  await load.end();
  expect(made).toMatchObject({ code: 0, lines: [expect.stringContaining('rows as they were at'), expect.anything()] });
  expect(during).toBeGreaterThan(0);

  const other = { MONGODB_DATABASE: `restored-${newId()}` };
  expect(await runOn(service, restore, [at('loaded')], other)).toMatchObject({ code: 0 });
  const database = service.deps.mongo.db(other.MONGODB_DATABASE);
  const balances = await database.collection('members').find().toArray();
  const gained = balances.reduce((sum, { balance }) => sum + balance - 100, 0);
  expect(gained).toBeGreaterThanOrEqual(before);
  expect(gained).toBeLessThanOrEqual(before + during + 4);
  expect(await database.collection('ledger').countDocuments({ type: 'adjust' })).toBe(gained);
  await database.dropDatabase();
});

it('after everything was lost the same rows are there, with the types of their values', async () => {
  await service.stopWorker();
  const { deps } = service;
  expect(await runOn(service, backup, [at('whole')])).toMatchObject({ code: 0 });
  expect(await readLastBackup(deps)).toEqual(madeAt('whole'));
  expect((await stat(at('whole'))).mode & 0o777).toBe(0o700);
  await deps.mongo.db(deps.config.MONGODB_DATABASE).dropDatabase();
  expect(await runOn(service, restore, [at('whole')])).toMatchObject({
    code: 0,
    lines: [expect.anything(), expect.anything()],
  });
  expect(await readLastBackup(deps)).toEqual(madeAt('whole'));
  expect(await runOn(service, backup, [at('again')])).toMatchObject({ code: 0 });
  expect(keptRowsOf('again')).toEqual(keptRowsOf('whole'));
  expect(await deps.collections.batches.find().toArray()).toEqual([
    expect.objectContaining({ kind: 'passes.rebuild', phase: 'queued', merchantId: merchant.id, programId }),
  ]);
  for await (const { differences } of verifyLedger(deps, merchant.id)) expect(differences).toEqual([]);
  const { body } = await merchant.call(`/merchants/me/members/${members[0]}`);
  expect(body.data.balance).toBeGreaterThanOrEqual(100);
});

it('data is overwritten only with --replace, and then wholly', async () => {
  const id = members[1];
  const { headers } = await merchant.call(`/merchants/me/members/${id}/points`, {
    method: 'PATCH',
    body: { delta: 5 },
  });
  const requestId = headers.get('X-Request-Id') ?? '';
  // The log of requests is written after the answer, and the row must not come after the restore.
  await until(() => service.deps.collections.requests.findOne({ requestId }));
  const refused = await runOn(service, restore, [at('whole')]);
  expect(refused).toMatchObject({ code: 1, lines: [] });
  expect(refused.errors.at(-1)).toMatch(/holds data .*--replace/);
  expect(await runOn(service, backup, [at('kept')])).toMatchObject({ code: 0 });
  expect(collectionsOf('kept').ledger.rows).toBe(collectionsOf('whole').ledger.rows + 1);
  expect(await readLastBackup(service.deps)).toEqual(madeAt('kept'));
  expect(await runOn(service, restore, [at('whole'), '--replace'])).toMatchObject({ code: 0 });
  expect(await readLastBackup(service.deps)).toEqual(madeAt('whole'));
  expect(await runOn(service, backup, [at('replaced')])).toMatchObject({ code: 0 });
  expect(keptRowsOf('replaced')).toEqual(keptRowsOf('whole'));
});

it('a backup of which the database does not take the time is made all the same, and says so', async () => {
  const { probes } = service.deps.collections;
  // As for a user who may only read, each write fails.
  await probes.drop();
  await probes.insertOne({ _id: 'another', at: new Date(0) });
  const refusing = await probes.createIndex({ absent: 1 }, { unique: true });
  try {
    const made = await runOn(service, backup, [at('silent')]);
    expect(made.code).toBe(0);
    expect(made.lines).toEqual([
      expect.stringContaining('rows as they were at'),
      expect.anything(),
      expect.stringMatching(/^lps_last_backup_timestamp_seconds stays as it was: .*E11000 /),
    ]);
    expect(keptRowsOf('silent')).toEqual(keptRowsOf('replaced'));
  } finally {
    await probes.dropIndex(refusing);
  }
});

it.each([
  ['a changed byte', (name: string) => writeFileSync(name, flipped(readFileSync(name)))],
  ['a lost end', (name: string) => writeFileSync(name, readFileSync(name).subarray(0, -40))],
  ['no file', (name: string) => rm(name)],
  ['an empty file', (name: string) => writeFileSync(name, '')],
])('a backup with %s is refused before anything is changed', async (_what, damage) => {
  const damaged = at(`damaged-${newId()}`);
  await cp(at('whole'), damaged, { recursive: true });
  await damage(join(damaged, 'members.bson.gz'));
  const refused = await runOn(service, restore, [damaged, '--replace']);
  expect(refused).toMatchObject({ code: 1, lines: [] });
  expect(refused.errors.at(-1)).toMatch(/members\.bson\.gz is (damaged|not what was written)/);
  expect(await service.deps.collections.members.countDocuments()).toBe(members.length);
});

const flipped = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  const middle = copy.length >> 1;
  copy.writeUInt8(copy.readUInt8(middle) ^ 1, middle);
  return copy;
};

it('a folder without a complete backup, a folder that is there and an empty database are refused', async () => {
  await rm(at('kept/backup.json'));
  expect((await runOn(service, restore, [at('kept'), '--replace'])).errors.at(-1)).toContain('no complete backup');
  expect((await runOn(service, backup, [at('whole')])).errors).toEqual([expect.stringContaining('is there already')]);
  const empty = { MONGODB_DATABASE: `empty-${newId()}` };
  expect((await runOn(service, backup, [at('empty')], empty)).errors.at(-1)).toContain('holds no rows');
  expect(existsSync(at('empty'))).toBe(false);
  for (const command of [backup, restore]) {
    expect((await runOn(service, command, [])).errors).toEqual(['name one folder']);
    expect((await runOn(service, command, ['a', 'b'])).errors).toEqual(['name one folder']);
    expect((await runOn(service, command, ['--help'])).lines.join()).toContain('Example: npm run -s');
  }
});

it('migration says what it made, and may be repeated', async () => {
  for (let turn = 0; turn < 2; turn += 1)
    expect(await runOn(service, migrate, [])).toMatchObject({ code: 0, lines: [expect.stringMatching(/\d+ indexes/)] });
});

it('a stopped stack is restored and backed up with an engine that is started for it', async () => {
  const { MONGODB_URI: _, TEMPORAL_ADDRESS: __, ...rest } = process.env;
  const env = { ...rest, STACK_DIR: at('stack') };
  const run = (name: string, ...args: string[]) =>
    promisify(execFile)('npm', ['run', '-s', name, '--', ...args], { cwd: root, env });
  expect((await run('restore', at('whole'))).stdout).toContain('restored the state of');
  await expect(run('restore', at('whole'))).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--replace'),
  });
  expect((await run('backup', at('of-stack'))).stdout).toContain('rows as they were at');
  expect(keptRowsOf('of-stack')).toEqual(keptRowsOf('whole'));
});
