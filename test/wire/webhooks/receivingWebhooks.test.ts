// The receivers in the documentation, each one extracted from its page and run unchanged.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookHeaders } from '../../../schemas/webhooks/headers.rules.js';
import { makeWebhookSecret } from '../../../schemas/webhooks/signature.rules.js';

interface Language {
  fence: string;
  file: string;
  /** A command that succeeds when the runtime is installed. */
  probe: [command: string, ...args: string[]];
  /** The command that runs `file` in `folder` on `port`. */
  command(folder: string, port: number): [command: string, ...args: string[]];
}

const languages: Language[] = [
  {
    fence: 'js',
    file: 'receiver.mjs',
    probe: [process.execPath, '--version'],
    command: () => [process.execPath, 'receiver.mjs'],
  },
  { fence: 'python', file: 'receiver.py', probe: ['python3', '--version'], command: () => ['python3', 'receiver.py'] },
  {
    fence: 'go',
    file: 'receiver.go',
    probe: ['go', 'version'],
    command: (folder) => {
      execFileSync('go', ['build', '-o', 'receiver', 'receiver.go'], { cwd: folder });
      return [join(folder, 'receiver')];
    },
  },
  {
    fence: 'php',
    file: 'receiver.php',
    probe: ['php', '--version'],
    command: (_folder, port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
  },
];

const page = await readFile(new URL('../../../docs/receiving-webhooks.md', import.meta.url), 'utf8');
const codeIn = (fence: string) => page.match(new RegExp(`^\`\`\`${fence}\\n(.*?)^\`\`\``, 'ms'))?.[1] ?? '';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

const body = Buffer.from('{"eventId":"evt_1","data":{"firstName":"Zoë 🎉","changeMessage":"a.b"}}');

describe.each(languages)('the $fence receiver of the documentation', ({ fence, file, probe, command }) => {
  const [prober, ...probeArgs] = probe;
  const present = spawnSync(prober, probeArgs).status === 0;
  const note = present ? '' : ` (not run: ${prober} is not on this machine)`;
  const secret = makeWebhookSecret();
  const running: ChildProcess[] = [];
  let folder: string;
  let url: string;

  /** Starts a receiver with a secret, if there is one; returns its address once it answers, undefined if it exits. */
  async function start(own?: string): Promise<string | undefined> {
    const port = await freePort();
    const address = `http://127.0.0.1:${port}/`;
    const [program, ...args] = command(folder, port);
    const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: own };
    const receiver = spawn(program, args, { cwd: folder, env, stdio: 'ignore' });
    running.push(receiver);
    for (let waited = 0; waited < 15_000; waited += 50) {
      if (receiver.exitCode !== null) return undefined;
      const answered = fetch(address, { method: 'POST', body: '{}' });
      if (await answered.then(Boolean, () => false)) return address;
      await sleep(50);
    }
    throw new Error(`The ${fence} receiver did not start.`);
  }

  beforeAll(async () => {
    if (!present) return;
    folder = await mkdtemp(join(tmpdir(), 'receiver-'));
    await writeFile(join(folder, file), codeIn(fence));
    url = (await start(secret)) ?? '';
  });

  afterAll(async () => {
    for (const receiver of running) receiver.kill();
    if (folder) await rm(folder, { recursive: true });
  });

  interface Post {
    to?: string | undefined;
    secrets?: string[];
    ageMs?: number;
    sent?: Buffer;
    change?: (headers: Record<string, string>) => void;
  }

  async function post({ to = url, secrets = [secret], ageMs = 0, sent = body, change }: Post = {}): Promise<number> {
    const now = new Date(Date.now() - ageMs);
    const headers = webhookHeaders({
      eventType: 'points.changed',
      eventId: 'evt_1',
      subscriptionId: 'sub_1',
      secrets,
      body,
      now,
    });
    change?.(headers);
    const answer = await fetch(to, { method: 'POST', headers, body: new Uint8Array(sent) });
    return answer.status;
  }

  it('is at most 36 lines long', () => {
    const lines = codeIn(fence)
      .split('\n')
      .filter((line) => line.trim() !== '');
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.length).toBeLessThanOrEqual(36);
  });

  it.runIf(present)(`accepts genuine webhooks within 5 minutes of now${note}`, async () => {
    expect(await post()).toBe(204);
    expect(await post({ ageMs: 290_000 })).toBe(204);
    expect(await post({ ageMs: -290_000 })).toBe(204);
    expect(await post({ secrets: [secret, makeWebhookSecret()] })).toBe(204);
  });

  it.runIf(present)(`needs no older signature${note}`, async () => {
    const change = (headers: Record<string, string>) => {
      for (const name of Object.keys(headers)) if (name.startsWith('X-Service-')) delete headers[name];
    };
    expect(await post({ change })).toBe(204);
  });

  it.runIf(present)(`accepts the old secret while it is replaced${note}`, async () => {
    expect(await post({ secrets: [makeWebhookSecret(), secret] })).toBe(204);
  });

  it.runIf(present)(`takes a secret that is no base64${note}`, async () => {
    const own = 'a-secret-of-yours';
    const to = await start(own);
    expect(await post({ to, secrets: [own] })).toBe(204);
    expect(await post({ to })).toBe(401);
  });

  it.runIf(present)(`accepts nothing while it has no secret${note}`, async () => {
    const to = await start();
    if (to !== undefined) expect(await post({ to, secrets: [''] })).not.toBe(204);
  });

  it.runIf(present)(`refuses changed webhooks${note}`, async () => {
    expect(await post({ sent: Buffer.from(body.toString().replace('evt_1', 'evt_2')) })).toBe(401);
    expect(await post({ sent: Buffer.concat([body, Buffer.from(' ')]) })).toBe(401);
    expect(await post({ sent: Buffer.alloc(0) })).toBe(401);
    expect(await post({ secrets: [makeWebhookSecret()] })).toBe(401);
    const without = (name: string) => post({ change: (headers) => delete headers[name] });
    const having = (name: string, value: string) =>
      post({ change: (headers) => Object.assign(headers, { [name]: value }) });
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) expect(await without(name)).toBe(401);
    expect(await having('webhook-id', 'evt_2')).toBe(401);
    expect(await having('webhook-signature', 'v1,')).toBe(401);
    expect(await having('webhook-signature', `v1,${'é'.repeat(44)}`)).toBe(401);
    expect(await having('webhook-timestamp', String(Math.floor(Date.now() / 1000) - 1))).toBe(401);
  });

  it.runIf(present)(`refuses genuine webhooks that are older than 5 minutes or from the future${note}`, async () => {
    expect(await post({ ageMs: 310_000 })).toBe(401);
    expect(await post({ ageMs: -310_000 })).toBe(401);
  });
});

const verifyInPython = `
import base64, json, sys
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
def good(secret, headers, body):
    try:
        Webhook(secret).verify(base64.b64decode(body).decode(), {k.lower(): v for k, v in headers.items()})
        return True
    except WebhookVerificationError:
        return False
print(json.dumps([good(*case) for case in json.load(sys.stdin)]))
`;

/** The folder with the standardwebhooks library of PyPI; undefined when Python or the package is not available. */
const pythonLibrary = await (async () => {
  const folder = await mkdtemp(join(tmpdir(), 'standardwebhooks-'));
  const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder, 'standardwebhooks==1.1.0'];
  if (spawnSync('python3', install, { timeout: 20_000 }).status === 0) return folder;
  await rm(folder, { recursive: true });
  return undefined;
})();

describe('the standardwebhooks library of PyPI', () => {
  afterAll(async () => {
    if (pythonLibrary) await rm(pythonLibrary, { recursive: true });
  });

  const note = pythonLibrary ? '' : ' (not run: Python or the package is not to be had here)';
  it.runIf(pythonLibrary)(`accepts genuine webhooks under every live secret, and no others${note}`, () => {
    const [newest, old, stranger] = [makeWebhookSecret(), makeWebhookSecret(), makeWebhookSecret()];
    const signed = (ageMs = 0) =>
      webhookHeaders({
        eventType: 'points.changed',
        eventId: 'evt_1',
        subscriptionId: 'sub_1',
        secrets: [newest, old],
        body,
        now: new Date(Date.now() - ageMs),
      });
    const cases: [string, Record<string, string>, Buffer][] = [
      [newest, signed(), body],
      [old, signed(), body],
      [stranger, signed(), body],
      [newest, { ...signed(), 'webhook-id': 'evt_2' }, body],
      [newest, signed(), Buffer.from(body.toString().replace('evt_1', 'evt_2'))],
      [newest, signed(310_000), body],
    ];
    const input = JSON.stringify(cases.map(([secret, headers, sent]) => [secret, headers, sent.toString('base64')]));
    const env = { ...process.env, PYTHONPATH: pythonLibrary };
    const verdicts = execFileSync('python3', ['-c', verifyInPython], { input, env, encoding: 'utf8' });
    expect(JSON.parse(verdicts)).toEqual([true, true, false, false, false, false]);
  });
});

describe('the lines with the standardwebhooks library', () => {
  it('verify a delivery', async () => {
    expect(codeIn('javascript')).toContain(`import { Webhook } from 'standardwebhooks'`);
    expect(codeIn('javascript')).toContain('new Webhook(process.env.WEBHOOK_SECRET).verify(rawBody, headers)');
    const secret = makeWebhookSecret();
    const attempt = { eventType: 'points.changed', eventId: 'evt_1', subscriptionId: 'sub_1', secrets: [secret], body };
    const headers = webhookHeaders({ ...attempt, now: new Date() });
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ eventId: 'evt_1' });
  });
});
