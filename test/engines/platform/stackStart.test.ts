// The start command as a user sees it: real processes, the printed tour in a shell, kills and Ctrl-C.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { historyId } from '../../../stack/demo.js';
import { assertGivenMongodb } from '../../../stack/engines/mongodb.js';
import { findPort } from '../../../stack/ports.js';
import { startMarkOf } from '../../../stack/processIdentity.js';
import { stackFilePath } from '../../../stack/stackFile.js';
import { until } from '../../rig/checks/until.js';
import { hasBrowser, keepScreenshot, screens, startBrowser } from '../../rig/standins/browser.js';
import { startEngines } from '../../rig/start/engines.js';
import { newStackDir, type RunningStack, runStart, startStack } from '../../rig/start/runningStack.js';
import { cookieOf, press } from '../../rig/start/signIn.js';

const names = ['api', 'worker', 'temporal', 'mongodb'] as const;

function commandOf(pid: number | undefined): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
}

describe('a running stack', () => {
  let stackDir: string;
  let remove: () => void;
  let stack: RunningStack;

  beforeAll(async () => {
    ({ stackDir, remove } = newStackDir());
    stack = await startStack(stackDir);
  });
  afterAll(async () => {
    await stack.stop();
    remove();
  });

  const members = async () => {
    const { baseUrl, demo } = stack.file();
    const answer = await fetch(`${baseUrl}/merchants/me/members`, { headers: { 'X-API-Key': demo.apiKey } });
    return { status: answer.status, body: await answer.text() };
  };

  test('stack.json has the addresses of all parts and the pids of the processes themselves', async () => {
    const { pids, ...file } = stack.file();
    expect(file.baseUrl).toBe(`${file.publicUrl}/api/v1`);
    expect(pids.supervisor).toBe(stack.supervisor.pid);
    expect(commandOf(pids.api)).toContain('api/main.ts');
    expect(commandOf(pids.worker)).toContain('worker/main.ts');
    expect(commandOf(pids.temporal)).toContain('server start-dev');
    expect(commandOf(pids.mongodb)).toContain(stackDir);
    expect((await fetch(new URL('/readyz', file.publicUrl))).status).toBe(200);
    expect((await fetch(file.temporalUi ?? '')).status).toBe(200);
  });

  test('a demo that was first started empty gets no history later', async () => {
    const mongo = await MongoClient.connect(stack.file().mongodbUri);
    const counters = mongo.db('loyalty').collection<Document & { _id: string }>('counters');
    expect(await counters.findOne({ _id: historyId })).toMatchObject({ merchantId: 'demo', made: 1 });
    await mongo.close();
  });

  test('console and workflows are bundled while the engines start', () => {
    const printed = stack.printed();
    for (const made of ['✓ console', '✓ workflows']) {
      expect(printed.indexOf(made)).toBeGreaterThan(0);
      expect(printed.indexOf(made)).toBeLessThan(printed.indexOf('✓ migration'));
    }
  });

  test('files that hold a key are readable by their owner only', () => {
    for (const name of ['stack.json', 'console-jwt-secret', 'secrets-key', 'demo-api-key', 'supervisor.lock']) {
      expect([name, statSync(join(stackDir, name)).mode & 0o077]).toEqual([name, 0]);
    }
  });

  test('no command line has a key', () => {
    const { demo, pids } = stack.file();
    for (const name of names) {
      expect(commandOf(pids[name])).not.toContain(demo.apiKey);
      expect(commandOf(pids[name])).not.toContain(readFileSync(join(stackDir, 'console-jwt-secret'), 'utf8'));
    }
  });

  test("the printed link signs in to the demo's console as its owner, and is stored in no file", async () => {
    const { publicUrl, baseUrl } = stack.file();
    const token = /\/console\/sign-in\/([\w-]{32})$/m.exec(stack.printed())?.[1] ?? '';
    const signedIn = await press({ publicUrl }, token);
    const headers = { Cookie: `session=${cookieOf(signedIn)}` };
    expect(await (await fetch(`${baseUrl}/auth/session`, { headers })).json()).toMatchObject({
      data: {
        user: { email: 'owner@demo.example' },
        merchant: { id: 'demo', name: 'Demo merchant' },
        roleIds: ['owner'],
      },
    });
    expect(readFileSync(stackFilePath(stackDir), 'utf8')).not.toContain(token);
  });

  test('the printed tour, pasted line by line, delivers signed webhooks', async () => {
    const port = await findPort('127.0.0.1');
    const tour = await until(() => /^npm.*\n[\s\S]*^curl.* -X PATCH .*\n/m.exec(stack.printed())?.[0]);
    const lines = tour.replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`).split('\n');
    const [receiverLine, ...clientLines] = lines.filter((line) => /^(npm|KEY|curl|MEMBER)/.test(line));
    expect(clientLines).toHaveLength(4);

    const cwd = join(import.meta.dirname, '..', '..', '..');
    const receiver = spawn('bash', ['-c', `exec ${receiverLine} --port ${port}`], { cwd, detached: true });
    let received = '';
    receiver.stdout.on('data', (text) => (received += String(text)));
    try {
      await expect.poll(() => received).toContain('Waiting for webhooks');
      const shell = await promisify(execFile)('bash', ['-c', clientLines.join('\n')]);
      expect(shell.stdout).toContain('"current":35');
      // All of them: what is not delivered when the receiver ends is tried again for days.
      const events = () => [...received.matchAll(/^\S+ +(\S+) .*signature good/gm)].map(([, event]) => event);
      const expected = ['member.created', 'pass.created', 'pass.created', 'points.changed'];
      await expect.poll(() => events().toSorted()).toEqual(expected);
      expect(received).not.toMatch(/WRONG|missing|too old/);
    } finally {
      if (receiver.pid !== undefined) process.kill(-receiver.pid);
    }
  });

  test.runIf(hasBrowser)('the Temporal UI shows each change by its member', async () => {
    const browser = await startBrowser();
    try {
      const page = await browser.open(`${stack.file().temporalUi}/namespaces/default/workflows`, screens.desktop);
      const keyedChange = page.getByRole('link', { name: /^points:/ }).first();
      await keyedChange.waitFor();
      await keepScreenshot(page, 'temporal-workflows');
      await keyedChange.click();
      await page.getByText('publishNow').first().waitFor();
      await keepScreenshot(page, 'temporal-change');
    } finally {
      await browser.close();
    }
  });

  test('a second start on the same folder is refused and changes nothing', async () => {
    const before = readFileSync(stackFilePath(stackDir), 'utf8');
    const second = runStart(stackDir);
    expect(await second.ended).toBe(1);
    expect(second.printed()).toMatch(/A stack runs on .* already \(pid \d+\)/);
    expect(readFileSync(stackFilePath(stackDir), 'utf8')).toBe(before);
  });

  test.each(names)('%s is started again when it is killed, at the same address', async (name) => {
    const before = stack.file();
    const pid = before.pids[name] ?? 0;
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => stack.file().pids[name]).not.toBe(pid);
    await expect.poll(() => stack.printed()).toContain(`pid ${stack.file().pids[name]}`);
    const after = stack.file();
    expect({ ...after, pids: {} }).toEqual({ ...before, pids: {} });
    await expect.poll(async () => (await members()).status).toBe(200);
  });

  test('while nothing is due, only jobs at fixed hours are planned, and no workflow runs', async () => {
    const connection = await Connection.connect({ address: stack.file().temporalAddress });
    const { workflow, schedule } = new Client({ connection });
    const running = async () => {
      const ids = [];
      for await (const { workflowId } of workflow.list({ query: "ExecutionStatus = 'Running'" })) ids.push(workflowId);
      return ids;
    };
    await expect.poll(running).toEqual([]);
    const planned = [];
    for await (const { scheduleId } of schedule.list()) planned.push(scheduleId);
    expect(planned).toEqual(['recount']);
    await connection.close();
  });

  test('Ctrl-C ends everything in order, and the next start has the same data', async () => {
    const before = stack.file();
    const enrolled = await members();
    expect(enrolled.body).toContain('Ada');
    expect(await stack.stop()).toBe(0);
    for (const name of names) expect([name, startMarkOf(before.pids[name] ?? 0)]).toEqual([name, undefined]);
    expect(existsSync(stackFilePath(stackDir))).toBe(false);

    stack = await startStack(stackDir);
    const after = stack.file();
    expect(after.demo).toMatchObject({ ...before.demo, consoleToken: expect.any(String) });
    expect(after.mongodbUri).toBe(before.mongodbUri);
    expect((await members()).body).toBe(enrolled.body);
    const oldToken = { headers: { Authorization: `Bearer ${before.demo.consoleToken}` } };
    expect((await fetch(`${after.baseUrl}/auth/api-keys`, oldToken)).status).toBe(200);
  });

  test('no process outlives a killed supervisor, and the next start works', async () => {
    const { pids } = stack.file();
    stack.supervisor.kill('SIGKILL');
    await stack.ended;
    for (const name of names) {
      await expect.poll(() => startMarkOf(pids[name] ?? 0)).toBeUndefined();
    }
    stack = await startStack(stackDir);
    expect((await members()).body).toContain('Ada');
  });
});

test('engines given by address are used and outlive the stack', async () => {
  const { stackDir, remove } = newStackDir();
  const engines = await startEngines();
  const env = { MONGODB_URI: engines.mongodbUri, TEMPORAL_ADDRESS: engines.temporalAddress };
  const stack = await startStack(stackDir, env);
  const { pids, mongodbUri, temporalAddress, temporalUi } = stack.file();
  expect({ mongodbUri, temporalAddress, temporalUi }).toEqual({
    mongodbUri: engines.mongodbUri,
    temporalAddress: engines.temporalAddress,
    temporalUi: null,
  });
  expect(Object.keys(pids).sort()).toEqual(['api', 'supervisor', 'worker']);
  expect(await stack.stop()).toBe(0);
  await assertGivenMongodb(engines.mongodbUri);
  await engines.stop();
  remove();
});

test('all ports that were asked for and are taken are named in one message, before anything is started', async () => {
  const { stackDir, remove } = newStackDir();
  const others = [1, 2, 3].map(() => createServer().listen(0, '127.0.0.1'));
  await Promise.all(others.map((other) => once(other, 'listening')));
  const ports = others.map((other) => String((other.address() as AddressInfo).port));
  const [PORT = '', METRICS_PORT = '', STACK_MONGO_PORT = ''] = ports;
  const stack = runStart(stackDir, { PORT, METRICS_PORT, STACK_MONGO_PORT });
  expect(await stack.ended).toBe(1);
  for (const [name, port] of Object.entries({ PORT, METRICS_PORT, STACK_MONGO_PORT }))
    expect(stack.printed()).toContain(`  ${name}=${port} on 127.0.0.1\n`);
  expect(existsSync(join(stackDir, 'mongodb'))).toBe(false);
  for (const other of others) other.close();
  remove();
});

test('all wrong settings are named before anything is started', async () => {
  const { stackDir, remove } = newStackDir();
  const stack = runStart(stackDir, { PORT: 'x', STACK_TEMPORAL_PORT: 'y', CONSOLE_JWT_SECRET: 'too short' });
  expect(await stack.ended).toBe(78);
  for (const name of ['PORT', 'STACK_TEMPORAL_PORT', 'CONSOLE_JWT_SECRET']) expect(stack.printed()).toContain(name);
  expect(existsSync(join(stackDir, 'logs'))).toBe(false);
  remove();
});

test.each(['✓ MongoDB', '✓ API'])('Ctrl-C during "%s" ends all started processes', async (mark) => {
  const { stackDir, remove } = newStackDir();
  const stack = runStart(stackDir);
  await expect.poll(() => stack.printed(), { interval: 5 }).toContain(mark);
  const { children } = JSON.parse(readFileSync(join(stackDir, 'supervisor.lock'), 'utf8'));
  expect(children.length).toBeGreaterThan(0);
  expect(await stack.stop()).toBe(0);
  for (const { pid } of children) expect(startMarkOf(pid)).toBeUndefined();
  expect(existsSync(stackFilePath(stackDir))).toBe(false);
  remove();
});
