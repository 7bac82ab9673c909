// The package of the SDK as an integrator gets it: packed, installed into an empty folder, type-checked and run against
// the service, with a network in between that fails.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findPort } from '../../../stack/ports.js';
import { until } from '../../rig/checks/until.js';
import { type FaultyProxy, startFaultyProxy } from '../../rig/standins/faultyProxy.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { sdkProgram } from '../../rig/start/sdkProgram.js';
import { startService, type TestService } from '../../rig/start/service.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..');
const modules = join(root, 'node_modules');

let folder: string;
let service: TestService;
let merchant: TestMerchant;
let proxy: FaultyProxy;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'packed-sdk-'));
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: join(root, 'sdk') });
  // Its one dependency is there already; nothing else may be asked for.
  const given = ['openapi-fetch', 'openapi-typescript-helpers'].map((name) => join(modules, name));
  const flags = ['--offline', '--install-links', '--no-audit', '--no-fund', '--ignore-scripts'];
  await run('npm', ['install', ...flags, join(folder, packed.stdout.trim()), ...given], { cwd: folder });
  service = await startService();
  merchant = await aMerchant(service);
  proxy = await startFaultyProxy(service.publicUrl);
});
afterAll(async () => {
  await proxy.stop();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

async function compile(name: string, program: string): Promise<string> {
  await writeFile(join(folder, `${name}.ts`), program);
  const types = ['--typeRoots', join(modules, '@types'), '--types', 'node'];
  const flags = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023'];
  const args = [join(modules, 'typescript', 'bin', 'tsc'), ...flags, ...types, join(folder, `${name}.ts`)];
  return run(process.execPath, args).then(
    () => '',
    (error: { stdout?: string }) => String(error.stdout),
  );
}

const environment = (programId = '') => ({
  ...process.env,
  LOYALTY_URL: proxy.url,
  LOYALTY_API_KEY: merchant.apiKey,
  PROGRAM_ID: programId,
});

it('applies each change once, whatever the network does', async () => {
  expect(await compile('program', sdkProgram)).toBe('');
  const { _id: programId } = await merchant.program();
  const { stdout } = await run(process.execPath, [join(folder, 'program.js')], { env: environment(programId) });
  const { id, ...said } = JSON.parse(stdout);
  const deltas = Array.from({ length: 12 }, (_, index) => index + 1);
  expect(said).toEqual({
    currents: deltas.map((delta) => (delta * (delta + 1)) / 2),
    refused: 'REWARD_NOT_FOUND',
    deltas: deltas.toReversed(),
    told: expect.arrayContaining(deltas),
    reason: 'header-missing',
  });
  expect(await service.deps.collections.ledger.countDocuments({ memberId: id, type: 'adjust' })).toBe(12);
  expect(await service.deps.collections.members.countDocuments({ merchantId: merchant.id })).toBe(1);
  expect(proxy.seen.size).toBe(6);
});

/** A program that runs until it is ended; `printed` is what it has said so far. */
function started(file: string, args: string[], env: NodeJS.ProcessEnv) {
  const child = spawn(file, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: string[] = [];
  child.stdout.on('data', (chunk) => chunks.push(String(chunk)));
  return { printed: () => chunks.join(''), end: () => child.kill('SIGTERM') };
}

it('runs the programs of its README as they are: the loop of a till, and a receiver of what it does', async () => {
  const readme = await readFile(join(root, 'sdk', 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) => block);
  expect(blocks).toHaveLength(2);
  for (const [index, name] of ['till', 'receiver'].entries()) {
    expect(await compile(name, blocks[index] ?? '')).toBe('');
    await writeFile(join(folder, `${name}.mjs`), blocks[index] ?? '');
  }
  const { _id: programId } = await merchant.program();
  const { memberCode } = await merchant.enroll({ programId, firstName: 'Ada' });
  const env = { ...environment(), STACK_DIR: folder, PORT: String(await findPort('127.0.0.1')) };
  const forwarding = ['listen', '--forward-to', `http://127.0.0.1:${env.PORT}/`];
  const kit = started(join(folder, 'node_modules', '.bin', 'kit'), forwarding, env);
  await until(() => kit.printed().includes('Secret: '));
  const [, WEBHOOK_SECRET = ''] = /Secret: (\S+)/.exec(kit.printed()) ?? [];
  const receiver = started(process.execPath, ['receiver.mjs'], { ...env, WEBHOOK_SECRET });
  const scans = run(process.execPath, [join(folder, 'till.mjs')], { env });
  scans.child.stdin?.end(
    `${memberCode} receipt-1\n${memberCode} receipt-2\n${memberCode} receipt-2\nNOTHING receipt-3\n`,
  );
  const lines = (await scans).stdout.trim().split('\n');
  expect(lines).toEqual(['Ada: 0 -> 10', 'Ada: 10 -> 20', 'Ada: 10 -> 20', expect.stringMatching(/^refused: /)]);
  await until(() => receiver.printed().split('points.changed 10\n').length > 2);
  expect(receiver.printed()).not.toMatch(/mismatch|missing|malformed/);
  kit.end();
  receiver.end();
});

it('brings the command', async () => {
  const { stdout } = await run(join(folder, 'node_modules', '.bin', 'kit'), ['--help']);
  expect(stdout).toMatch(/^Usage: kit VERB\n/);
});

it('does not compile with what the API does not have', async () => {
  const wrong = sdkProgram.replace(
    "'/merchants/me/members', { body: { programId,",
    "'/merchants/me/members', { body: { programId: 1,",
  );
  expect(await compile('wrong', wrong)).toContain("Type 'number' is not assignable to type 'string'");
});
