// `npm run receiver` prints each webhook and whether its signature is valid.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { webhookHeaders } from '../../../schemas/webhooks/headers.rules.js';
import { makeWebhookSecret } from '../../../schemas/webhooks/signature.rules.js';
import { findPort } from '../../../stack/ports.js';

let receiver: ChildProcessWithoutNullStreams | undefined;
let printed = '';

afterEach(() => {
  receiver?.kill();
  printed = '';
});

const body = Buffer.from('{"event":"points.changed","data":{"current":35}}');

const root = join(import.meta.dirname, '..', '..', '..');

async function startReceiver(...args: string[]): Promise<string> {
  const port = await findPort('127.0.0.1');
  const options = ['--port', String(port), ...args];
  return heard(port, spawn(process.execPath, ['--import', 'tsx', join(root, 'stack', 'receiver.ts'), ...options]));
}

async function heard(port: number, started: ChildProcessWithoutNullStreams): Promise<string> {
  receiver = started;
  for (const stream of [started.stdout, started.stderr]) stream.on('data', (text) => (printed += String(text)));
  await expect.poll(() => printed).toContain(`http://127.0.0.1:${port}/`);
  return `http://127.0.0.1:${port}/`;
}

function headers(secret: string, now = new Date(), ...others: string[]): Record<string, string> {
  return webhookHeaders({
    eventType: 'points.changed',
    eventId: 'the-event',
    subscriptionId: 'a-subscription',
    secrets: [secret, ...others],
    body,
    now,
  });
}

async function post(url: string, over: RequestInit): Promise<number> {
  return (await fetch(url, { method: 'POST', body, ...over })).status;
}

test('a webhook is printed with its event, its id, its body and whether its signature is valid', async () => {
  const url = await startReceiver('--secret', 'a-secret-of-sixteen');
  expect(await post(url, { headers: headers('a-secret-of-sixteen') })).toBe(204);
  await expect
    .poll(() => printed)
    .toMatch(/points\.changed {2}the-event {2}signature good {2}answered 204\n.*"current":35/);
});

test('one of two signatures is enough, as while a secret is replaced', async () => {
  const secret = makeWebhookSecret();
  const url = await startReceiver('--secret', secret);
  expect(await post(url, { headers: headers('a-secret-of-sixteen', new Date(), secret) })).toBe(204);
  await expect.poll(() => printed).toContain('signature good');
});

test('a TERM that npm alone gets ends the receiver', async () => {
  const port = await findPort('127.0.0.1');
  const npm = spawn('npm', ['run', '--silent', 'receiver', '--', '--port', String(port)], { cwd: root });
  const url = await heard(port, npm);
  expect(await post(url, { headers: headers('a-secret-of-sixteen') })).toBe(204);
  npm.kill('SIGTERM');
  await expect.poll(() => post(url, {}).catch(() => 'closed')).toBe('closed');
});

test('a changed body, another secret, an old delivery and a missing signature are reported as invalid', async () => {
  const url = await startReceiver('--secret', 'a-secret-of-sixteen', '--status', '500');
  expect(await post(url, { headers: headers('a-secret-of-sixteen'), body: `${body} ` })).toBe(500);
  await expect.poll(() => printed).toContain('signature WRONG');
  printed = '';
  await post(url, { headers: headers('another-secret-here') });
  await expect.poll(() => printed).toContain('signature WRONG');
  await post(url, { headers: headers('a-secret-of-sixteen', new Date(Date.now() - 6 * 60_000)) });
  await expect.poll(() => printed).toContain('signature too old');
  await post(url, {});
  await expect.poll(() => printed).toContain('signature missing');
  expect(printed).not.toContain('signature good');
});

test.each([
  [['--help'], 0, /^Usage: npm run receiver/],
  [['-h', '--port', '4001'], 0, /^Usage: npm run receiver/],
  [['--prot', '4001'], 1, /^Unknown option '--prot'[\s\S]*Usage: /],
  [['--status', '42'], 1, /^--status 42 is no status[\s\S]*Usage: /],
  [['--port', '70000'], 1, /^--port 70000 is no port[\s\S]*Usage: /],
])('%j is answered with the usage and no stack', (args, code, text) => {
  const script = join(root, 'stack', 'receiver.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', script, ...args], {
    encoding: 'utf8',
  });
  expect(status).toBe(code);
  expect(`${stdout}${stderr}`).toMatch(text);
  expect(`${stdout}${stderr}`).not.toMatch(/^ +at /m);
});
