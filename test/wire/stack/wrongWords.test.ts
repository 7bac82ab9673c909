// Programs with a command line of their own answer wrong words with a sentence and an exit code, never with a stack.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const empty = mkdtempSync(join(tmpdir(), 'wrong-words-'));
afterAll(() => rmSync(empty, { recursive: true }));

interface Ended {
  code: number;
  printed: string;
}

const run = (file: string, args: string[], env: Record<string, string>) =>
  new Promise<Ended>((resolve) => {
    const child = execFile(
      process.execPath,
      ['--import', 'tsx', join(root, file), ...args],
      { env: { PATH: process.env.PATH, HOME: empty, STACK_DIR: join(empty, 'stack'), ...env }, timeout: 300_000 },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), printed: `${stdout}${stderr}` }),
    );
    child.stdin?.end();
  });

const nobody = { LOYALTY_URL: 'http://127.0.0.1:1', LOYALTY_API_KEY: 'x' };
const words: Record<string, [string[], Record<string, string>?][]> = {
  'sdk/kit/main.ts': [
    [[]],
    [['explode']],
    [['listen']],
    [['listen', '--forward-to', 'nowhere']],
    [['tail', '--explode']],
    [['tail'], { LOYALTY_URL: 'nonsense', LOYALTY_API_KEY: 'x' }],
    [['tail'], { LOYALTY_URL: 'http://127.0.0.1:1' }],
    [['mcp', 'surplus'], nobody],
    [['trigger', 'nothing.happened'], nobody],
    [['verify', '--secret']],
    [['verify', '--secret', 'a', join(empty, 'nowhere')]],
    [['mcp'], nobody],
  ],
  'test/rig/phones/phone.ts': [
    [[]],
    [['explode']],
    [['--explode']],
    [['add']],
    [['add', 'nowhere']],
    [['add', 'http://127.0.0.1:1/x']],
    [['add', 'http://127.0.0.1:1/x', 'surplus']],
    [['save', 'nowhere']],
    [['save', 'http://127.0.0.1:1/x']],
    [['wallets', 'surplus']],
  ],
  'stack/receiver.ts': [
    [['surplus']],
    [['--port']],
    [['--port', 'high']],
    [['--port', '-1']],
    [['--port', '99999']],
    [['--port', '']],
    [['--secret']],
    [['--status', '42']],
    [['--status', 'good']],
    [['--explode']],
  ],
};

const cases = Object.entries(words).flatMap(([file, lines]) =>
  lines.map(([args, env = {}]) => ({ file, args, env, line: args.join(' ').replace(empty, '') })),
);

it.each(cases)('$file answers "$line" with a sentence', async ({ file, args, env }) => {
  const { code, printed } = await run(file, args, env);
  expect(printed).toMatch(/\w/);
  expect(printed).not.toMatch(/^\s+at .*:\d+:\d+\)?$|TypeError|node:internal|E(?:NOENT|ISDIR|ACCES|CONN\w+)\b/m);
  expect([1, 2]).toContain(code);
});

it.each(Object.keys(words))('%s explains itself with an example', async (file) => {
  const { code, printed } = await run(file, ['--help'], {});
  expect(code).toBe(0);
  expect(printed).toMatch(/^Example: npm run /m);
});
