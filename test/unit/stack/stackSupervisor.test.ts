// The supervisor of `npm start`: start, restart and stop of its processes, and their end after its own death.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ExpectedFailure } from '../../../stack/expectedFailure.js';
import { lockStackDir } from '../../../stack/folderLock.js';
import type { NamedProcess } from '../../../stack/lock.js';
import { identityOf, startMarkOf } from '../../../stack/processIdentity.js';
import { apiPlan } from '../../../stack/services.js';
import type { ProcessPlan } from '../../../stack/supervisedProcess.js';
import { createSupervisor, type Supervisor } from '../../../stack/supervisor.js';
import { quickest } from '../../rig/checks/stalls.js';

let folder: string;
let said: string[];
let living: NamedProcess[];
let supervisor: Supervisor;

const terminal = { line: (text = '') => said.push(text), warn: (text: string) => said.push(text) };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-supervisor-'));
  said = [];
  living = [];
  supervisor = createSupervisor({ logDir: join(folder, 'logs'), terminal, onChange: (now) => (living = now) });
});
afterEach(async () => {
  await supervisor.stopAll([]);
  rmSync(folder, { recursive: true, force: true });
});

function aPlan(name: string, script: string, over: Partial<ProcessPlan> = {}): ProcessPlan {
  return {
    name,
    title: name,
    command: process.execPath,
    args: ['-e', script],
    env: { ...process.env, FOLDER: folder },
    ipc: true,
    ready: ({ saidReady }) => saidReady,
    readyWithinMs: 60_000,
    graceMs: 60_000,
    ...over,
  };
}

const forever = `process.send('ready'); setInterval(() => {}, 1000);`;
const notes = () => readFileSync(join(folder, 'notes'), 'utf8').trim().split('\n');
const note = (text: string) =>
  `require('fs').appendFileSync(process.env.FOLDER + '/notes', ${JSON.stringify(text)} + '\\n');`;
const pidOf = (name: string) => living.find((one) => one.name === name)?.pid ?? 0;

test('a process that dies is reported and started again within two seconds', async () => {
  await supervisor.start(aPlan('api', forever));
  const dieAndReturn = async () => {
    const first = pidOf('api');
    process.kill(first, 'SIGKILL');
    await expect.poll(() => pidOf('api')).not.toBe(first);
    await expect.poll(() => said.at(-1)).toContain('api is back');
  };
  expect(await quickest(dieAndReturn, 2_000)).toBeLessThan(2_000);
  expect(said.join('\n')).toMatch(/api was ended by SIGKILL; starting it again\n.*api is back/);
  expect(startMarkOf(pidOf('api'))).toBeDefined();
});

test('the API is not ready because something else answers at its address', async () => {
  const other = createServer((_request, answer) => answer.end());
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const { ready } = apiPlan({}, `http://127.0.0.1:${port}`);
  const started = supervisor.start(aPlan('API', 'setTimeout(() => process.exit(1), 500);', { ready }));
  await expect(started).rejects.toThrow('API ended with code 1');
  other.close();
});

test('a running process gets a message, and one that is started again has the present settings of its plan', async () => {
  const mark = `const mark = (text) => require('fs').appendFileSync(process.env.FOLDER + '/notes', text + '\\n');`;
  const plan = aPlan(
    'worker',
    `${mark} mark(process.env.MARK); process.on('message', (said) => mark(said.wallets)); ${forever}`,
  );
  plan.env.MARK = 'stub';
  await supervisor.start(plan);
  plan.env.MARK = 'wallets';
  supervisor.tell(['worker'], { wallets: 'told' });
  supervisor.tell(['api'], { wallets: 'of nobody' });
  await expect.poll(notes).toEqual(['stub', 'told']);
  process.kill(pidOf('worker'), 'SIGKILL');
  await expect.poll(notes).toEqual(['stub', 'told', 'wallets']);
});

test('a process that runs once ends without a report when it is done, and is started again when it is killed', async () => {
  const script = `${note('start')} process.send('ready'); setTimeout(() => require('fs').existsSync(process.env.FOLDER + '/over') && process.exit(0), 200); setInterval(() => {}, 1000);`;
  await supervisor.start(aPlan('cafe', script, { once: true }));
  process.kill(pidOf('cafe'), 'SIGKILL');
  writeFileSync(join(folder, 'over'), '');
  await expect.poll(() => said.join('\n')).toContain('cafe is back');
  await expect.poll(() => living).toEqual([]);
  const reports = said.length;
  await sleep(700);
  expect([notes(), said.length]).toEqual([['start', 'start'], reports]);
});

test('the recorded pid is the process itself, in its own group, which Ctrl-C does not reach', async () => {
  await supervisor.start(
    aPlan('worker', `require('fs').writeFileSync(process.env.FOLDER + '/notes', '' + process.pid); ${forever}`),
  );
  const pid = pidOf('worker');
  expect(notes()).toEqual([String(pid)]);
  // Signal 0 to a group only checks that the group exists.
  expect(process.kill(-pid, 0)).toBe(true);
});

test('a process that keeps dying is restarted with growing delays', async () => {
  await supervisor.start(
    aPlan('worker', `${note('start')} process.send('ready'); setTimeout(() => process.exit(3), 50);`),
  );
  for (const wait of ['again\n', 'again in 0.5 s', 'again in 1 s', 'again in 1.5 s'])
    await expect.poll(() => `${said.join('\n')}\n`).toContain(`ended with code 3; starting it ${wait}`);
  expect(notes().length).toBeGreaterThanOrEqual(3);
});

test('a process that ends before it is ready fails the start with the end of its log', async () => {
  const plan = aPlan('api', `console.error('no such index'); process.exit(1)`);
  const failure = await supervisor.start(plan).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ExpectedFailure);
  expect(String(failure)).toMatch(/api ended with code 1\.[\s\S]*no such index/);
  expect(living).toEqual([]);
});

test('a wrong configuration passes its exit code on', async () => {
  const failure = await supervisor.start(aPlan('api', 'process.exit(78)')).catch((error: unknown) => error);
  expect(failure).toMatchObject({ exitCode: 78 });
});

test('a process that never gets ready is killed', async () => {
  const plan = aPlan('api', `${note('up')} setInterval(() => {}, 1000)`, { readyWithinMs: 500 });
  await expect(supervisor.start(plan)).rejects.toThrow(/did not get ready within 0\.5 s/);
  expect(living).toEqual([]);
});

test('a missing program fails the start with a message', async () => {
  const plan = aPlan('mongodb', '', { command: join(folder, 'no-such-program'), ipc: false });
  await expect(supervisor.start(plan)).rejects.toThrow(/mongodb could not be started: .*ENOENT/);
});

test('a stop ends the processes in the given order, one after the other', async () => {
  const slow = (name: string) =>
    `process.on('SIGTERM', () => { ${note(`${name} asked`)} setTimeout(() => { ${note(`${name} ended`)} process.exit(0); }, 100); }); ${forever}`;
  for (const name of ['mongodb', 'temporal', 'worker', 'api']) await supervisor.start(aPlan(name, slow(name)));
  await supervisor.stopAll(['api', 'worker', 'temporal', 'mongodb']);
  expect(notes()).toEqual(
    ['api', 'worker', 'temporal', 'mongodb'].flatMap((name) => [`${name} asked`, `${name} ended`]),
  );
  expect(living).toEqual([]);
});

test('a process that ignores SIGTERM is killed after its grace period', async () => {
  await supervisor.start(aPlan('api', `process.on('SIGTERM', () => {}); ${forever}`, { graceMs: 300 }));
  const pid = pidOf('api');
  const since = Date.now();
  await supervisor.stopAll([]);
  expect(Date.now() - since).toBeGreaterThanOrEqual(290);
  expect(startMarkOf(pid)).toBeUndefined();
});

test('a stop during the delay before a restart prevents the restart', async () => {
  await supervisor.start(
    aPlan('api', `${note('start')} process.send('ready'); setTimeout(() => process.exit(3), 20);`),
  );
  await expect.poll(() => notes().length).toBeGreaterThanOrEqual(2);
  await supervisor.stopAll([]);
  const starts = notes().length;
  await sleep(1_200);
  expect(notes().length).toBe(starts);
});

test('the processes of a killed supervisor end soon after it', async () => {
  const script = fileURLToPath(new URL('../../rig/start/superviseSleep.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, join(folder, 'logs')]);
  const [line] = await once(child.stdout, 'data');
  const sleeper = Number(String(line));
  expect(startMarkOf(sleeper)).toBeDefined();
  child.kill('SIGKILL');
  await expect.poll(() => startMarkOf(sleeper)).toBeUndefined();
});

test('a folder with a running supervisor is refused to another one', async () => {
  const stackDir = join(folder, 'stack');
  const lock = await lockStackDir(stackDir, terminal);
  await expect(lockStackDir(stackDir, terminal)).rejects.toThrow(/runs on .* already \(pid \d+\)/);
  lock.release();
  (await lockStackDir(stackDir, terminal)).release();
});

test('a new supervisor ends what a killed one left in the folder, and nothing else', async () => {
  const stackDir = join(folder, 'stack');
  (await lockStackDir(stackDir, terminal)).release();
  const [left, other] = [spawn('sleep', ['300']), spawn('sleep', ['300'])];
  await Promise.all([once(left, 'spawn'), once(other, 'spawn')]);
  const children = [
    { name: 'temporal', ...identityOf(left.pid ?? 0) },
    { name: 'mongodb', pid: other.pid, startMark: 'of a process that had this pid before' },
  ];
  const holder = { pid: 4_194_305, startMark: '1' };
  writeFileSync(join(stackDir, 'supervisor.lock'), JSON.stringify({ holder, children }));
  writeFileSync(join(stackDir, 'stack.json'), '{}');

  (await lockStackDir(stackDir, terminal)).release();
  expect(said).toEqual([`the last run was killed; ending what it left: temporal (pid ${left.pid})`]);
  expect(startMarkOf(left.pid ?? 0)).toBeUndefined();
  expect(startMarkOf(other.pid ?? 0)).toBeDefined();
  expect(existsSync(join(stackDir, 'stack.json'))).toBe(false);
  other.kill();
});
