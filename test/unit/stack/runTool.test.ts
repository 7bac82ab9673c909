// The log file of a tool that the stack runs for an engine.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runTool } from '../../../stack/engines/tool.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-tool-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, logFile: string) =>
  runTool({ command, args: [], env: {}, logFile, onLine: () => undefined, signal: new AbortController().signal });

test('the log file is closed when the tool has failed, so that its folder may be removed', async () => {
  const logFile = join(folder, 'logs', 'tool.log');
  await expect(run('no-such-program', logFile)).rejects.toThrow('ENOENT');
  expect(existsSync(logFile)).toBe(true);
});

test('a log file that cannot be written does not fail the tool', async () => {
  await expect(run('/bin/true', folder)).resolves.toEqual([]);
});
