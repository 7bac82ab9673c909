// The package of the SDK as an integrator gets it: packed, installed into an empty folder, type-checked and run against
// the service, with a network in between that fails.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultyProxy, startFaultyProxy } from '../../rig/standins/faultyProxy.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { sdkProgram } from '../../rig/start/sdkProgram.js';
import { startService, type TestService } from '../../rig/start/service.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..');
const modules = join(root, 'node_modules');
const slowMs = 180_000;

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
}, slowMs);
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

it(
  'applies each change once, whatever the network does',
  async () => {
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
  },
  slowMs,
);

it(
  "runs the till's loop of its README",
  async () => {
    const readme = await readFile(join(root, 'sdk', 'README.md'), 'utf8');
    const [, loop = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
    expect(await compile('loop', loop)).toBe('');
    const { _id: programId } = await merchant.program();
    const { memberCode } = await merchant.enroll({ programId, firstName: 'Ada' });
    const scans = run(process.execPath, [join(folder, 'loop.js')], { env: environment() });
    scans.child.stdin?.end(
      `${memberCode} receipt-1\n${memberCode} receipt-2\n${memberCode} receipt-2\nNOTHING receipt-3\n`,
    );
    const lines = (await scans).stdout.trim().split('\n');
    expect(lines).toEqual(['Ada: 0 -> 10', 'Ada: 10 -> 20', 'Ada: 10 -> 20', expect.stringMatching(/^refused: /)]);
  },
  slowMs,
);

it('brings the command', async () => {
  const { stdout } = await run(join(folder, 'node_modules', '.bin', 'kit'), ['--help']);
  expect(stdout).toMatch(/^Usage: kit VERB\n/);
});

it(
  'does not compile with what the API does not have',
  async () => {
    const wrong = sdkProgram.replace(
      "'/merchants/me/members', { body: { programId,",
      "'/merchants/me/members', { body: { programId: 1,",
    );
    expect(await compile('wrong', wrong)).toContain("Type 'number' is not assignable to type 'string'");
  },
  slowMs,
);
