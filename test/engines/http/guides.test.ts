// Runs the samples of the guides as written, each guide's blocks one after the other in one shell, against a service.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { guideFile, guides } from '../../../stack/guides.js';
import { forkEngines } from '../../rig/start/forkEngines.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const root = join(import.meta.dirname, '..', '..', '..');
let service: TestService;
let merchant: TestMerchant;
let folder: string;

beforeAll(async () => {
  service = await startService();
  merchant = await aMerchant(service);
  folder = await mkdtemp(join(tmpdir(), 'guides-'));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const blocksOf = async (name: string): Promise<{ language: string; code: string }[]> => {
  const page = await readFile(join(root, guideFile(name)), 'utf8');
  return [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({ language, code }));
};

async function run(name: string, env: Record<string, string> = {}): Promise<string> {
  const blocks = await blocksOf(name);
  const script = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code);
  expect(script.length).toBeGreaterThan(0);
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script.join('\n')], {
    cwd: folder,
    timeout: 300_000,
    env: { ...process.env, API: service.baseUrl, KEY: merchant.apiKey, ...env },
  });
  return stdout;
}

/** The JSON documents that a script printed one after the other. */
const answersIn = (printed: string) =>
  printed
    .replaceAll(/(?<=\})(?=\{|\uFEFF)/g, '\n')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

it('every sample is in a language that a test runs', async () => {
  const elsewhere = ['operating', 'receiving-webhooks', 'sdk', 'wallets'];
  for (const name of Object.keys(guides).filter((guide) => !elsewhere.includes(guide)))
    for (const { language } of await blocksOf(name)) expect([name, language]).toEqual([name, 'sh']);
});

it('a cash register pairs, looks up a card, gives points, redeems and undoes', async () => {
  const { _id: programId } = await merchant.program({ goal: 10, earn: { per: 100, points: 1, currency: 'EUR' } });
  const { id, memberCode } = await merchant.enroll({ programId, initialPoints: 5 });
  const credential = { Authorization: `Bearer ${await merchant.token()}` };
  const reader = await merchant.call('/merchants/me/readers', { body: { name: 'Register 4' }, credential });
  const printed = await run('cash-registers', { CODE: reader.body.data.pairingCode, MEMBER_CODE: memberCode });
  const [hello, lookup, earn, redeem, undo] = answersIn(printed).map(({ data }) => data);
  expect(hello.reader.name).toBe('Register 4');
  expect(lookup).toMatchObject({ memberCode, balance: 5 });
  expect([earn.awarded, earn.member.balance, redeem.member.balance, undo.member.balance]).toEqual([12, 17, 7, 17]);
  const { body } = await merchant.call(`/merchants/me/members/${id}/transactions`);
  expect(body.data.items.map(({ type }: { type: string }) => type)).toEqual(['reversal', 'redeem', 'earn', 'initial']);
});

it('a key changes points once, answers the same again, and refuses another request', async () => {
  const { id } = await merchant.enroll({ initialPoints: 5 });
  const [first, again, other] = answersIn(await run('idempotency', { MEMBER: id }));
  expect(first.data.member.balance).toBe(15);
  expect(again).toEqual(first);
  expect(other.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
});

it('imports are tried, run and followed', async () => {
  const { _id: PROGRAM } = await merchant.program();
  const printed = await run('imports', { PROGRAM });
  const [dry, done] = answersIn(printed).map(({ data }) => data);
  expect([dry.dryRun, dry.counts.failed, dry.failures[0].row]).toEqual([true, 1, 2]);
  expect(done.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['created', 'failed']);
  expect(printed).toMatch(/\uFEFFrow,email,reason\r?\n2,no address,email: /);
});

// Runs what is meant for the container `api` on this machine, with the sources in place of dist.
const docker = `#!/bin/bash
case "$2" in up) exit ;; esac
while [ "$1" != api ]; do shift; done
shift 2
program=\${1/#dist/$ROOT}; shift
cd "$ROOT" && exec node --import tsx "\${program/%.js/.ts}" "\${@/#\\/program.json/$FOLDER/program.json}"
`;

it('going live makes secrets, a merchant, a key and a program', async () => {
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'bin/docker'), docker, { mode: 0o755 });
  await cp(join(root, 'stack/compose/makeSecrets.sh'), join(folder, 'stack/compose/makeSecrets.sh'));
  await cp(join(root, 'docs/examples/stamps.json'), join(folder, 'program.json'));
  const { MONGODB_DATABASE } = service.deps.config;
  const { temporalAddress, mongodbUri } = forkEngines();
  const printed = await run('going-live', {
    PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter),
    ...{ ROOT: root, FOLDER: folder, MONGODB_URI: mongodbUri, MONGODB_DATABASE, TEMPORAL_ADDRESS: temporalAddress },
  });
  const key = /^(\S{20,})\nkey /m.exec(printed)?.[1] ?? '';
  const { status, body } = await merchant.call('/merchants/me/programs', { credential: { 'X-API-Key': key } });
  expect([status, body.data.length]).toEqual([200, 1]);
});
