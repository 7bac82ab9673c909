// The third of the long suite that CI runs: if runs can be counted, three consecutive runs cover all parts.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endOf } from '../../long/lastLines.js';
import { parts } from '../../long/parts.js';
import { takeTurn } from '../../long/turn.js';
import { inWords, noteTally, sumOf } from '../../rig/checks/tally.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-turn-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const allParts = parts.map(({ name }) => name).toSorted();
const ranBy = (turns: readonly number[]) =>
  parts
    .filter(({ turn }) => turns.includes(turn))
    .map(({ name }) => name)
    .toSorted();

describe('three consecutive runs cover every part', () => {
  it('in a CI that numbers them, whatever the first number is', () => {
    for (const first of [1, 8, 41]) {
      const turns = [first, first + 1, first + 2].map((run) => takeTurn({ TEST_RUN_NUMBER: String(run) }).turn);
      expect(ranBy(turns)).toEqual(allParts);
    }
  });

  it('on a machine that stores the last one', () => {
    const turns = Array.from({ length: 3 }, () => takeTurn({ XDG_CACHE_HOME: folder }));
    expect(ranBy(turns.map(({ turn }) => turn))).toEqual(allParts);
    expect(turns.map(({ why }) => why)).toEqual([
      expect.stringContaining('remembers no run'),
      expect.stringContaining('the last run'),
      expect.stringContaining('the last run'),
    ]);
  });
});

it('the counts of several commands add up to one closing line', () => {
  const file = join(folder, 'tally');
  noteTally({ passed: 10, failed: 0, skipped: 1 }, file);
  noteTally({ passed: 2, failed: 1, skipped: 0 }, file);
  expect(inWords(sumOf(file))).toBe('12 passed, 1 failed, 1 skipped');
  expect(inWords(sumOf(join(folder, 'none')))).toBe('0 passed, 0 failed');
});

describe('the end of a part that prints', () => {
  const node = (program: string) => spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'pipe'] });

  it('is kept, while every line is passed on', async () => {
    const printed: string[] = [];
    const program = "for (let line = 0; line < 500; line += 1) console.log('line', line); process.exitCode = 3;";
    const { code, lastLines } = await endOf(node(program), (line) => printed.push(line));
    expect(code).toBe(3);
    expect(printed).toHaveLength(500);
    expect(lastLines).toEqual(printed.slice(-40));
  });

  it('is of both outputs, and has no endless line', async () => {
    const program = "console.log('out'); console.error('x'.repeat(1000));";
    const { lastLines } = await endOf(node(program), () => {});
    expect(lastLines.toSorted()).toEqual(['out', 'x'.repeat(200)]);
  });

  it('does not wait for what the part has left behind', async () => {
    const program = `
      const { spawn } = require('node:child_process');
      const left = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'inherit', detached: true });
      console.log(left.pid);
      process.exit(0);
    `;
    const { code, lastLines } = await endOf(node(program), () => {});
    expect(code).toBe(0);
    const pid = Number(lastLines[0]);
    // Throws unless it still runs.
    process.kill(pid, 'SIGKILL');
  });
});
