// The third of the long suite that CI runs: if runs can be counted, three consecutive runs cover all parts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
