// Every command of package.json explains itself with --help and does nothing else. Those in stack/commands share a
// runner, which commands.test.ts covers.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);
const files = Object.entries(scripts).flatMap(([name, script]) => {
  const file = /^(?:exec )?node --import tsx (\S+)$/.exec(script)?.[1];
  return file === undefined || file.startsWith('stack/commands/') ? [] : [[name, file] as const];
});
const run = (file: string, word: string) => promisify(execFile)(process.execPath, ['--import', 'tsx', file, word]);

it('there are such commands', () => {
  expect(files.map(([name]) => name)).toEqual(expect.arrayContaining(['start', 'phone', 'receiver', 'bench', 'crash']));
});

it.each(files)('%s prints its usage, and its exit code is 0', async (name, file) => {
  const { stdout, stderr } = await run(file, '--help');
  expect(stdout).toMatch(new RegExp(`^Usage:\\s+npm (?:run (?:-s )?)?${name}\\b`));
  expect(stderr).toBe('');
});

it('an option that there is not is named in a sentence above the usage', async () => {
  const failed = await run('stack/start.ts', '--porrt').catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Unknown option '--porrt'.*\n\nUsage: npm start/s),
  });
});
