// Lock files of the stack: one holder, taken over when the holder is dead.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Lock, tryLock, waitForLock } from '../../../stack/lock.js';
import { identityOf } from '../../../stack/processIdentity.js';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-lock-'));
  path = join(folder, 'the.lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function taken(): Lock {
  const result = tryLock(path);
  if ('heldBy' in result) throw new Error('The lock is held.');
  return result.lock;
}

async function aProcessThatEnded() {
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  const identity = identityOf(child.pid ?? 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  if (identity === undefined) throw new Error('The process had no start mark.');
  return identity;
}

test("a lock has one holder, and other callers get the holder's identity", () => {
  taken();
  expect(tryLock(path)).toEqual({ heldBy: identityOf(process.pid) });
});

test('a released lock can be taken again and leaves no file', () => {
  taken().release();
  expect(readdirSync(folder)).toEqual([]);
  taken();
});

test('the lock of a dead holder is taken over with the processes that it had started', async () => {
  const holder = await aProcessThatEnded();
  const child = { name: 'temporal', pid: 4_000_000, startMark: '17' };
  writeFileSync(path, JSON.stringify({ holder, children: [child] }));
  expect(taken().leftBehind).toEqual([child]);
});

test('a pid that was reused by another process does not hold a lock', () => {
  writeFileSync(path, JSON.stringify({ holder: { pid: process.pid, startMark: 'long ago' }, children: [] }));
  taken();
});

test('a file without a valid record does not block the lock', () => {
  writeFileSync(path, '{"holder":');
  taken();
});

test('recorded children are found by the next holder, also if a holder in between died', async () => {
  const holder = await aProcessThatEnded();
  writeFileSync(path, JSON.stringify({ holder, children: [{ name: 'mongodb', pid: 4_000_001, startMark: '18' }] }));
  const record = JSON.stringify(taken().leftBehind);
  expect(tryLock(path)).toMatchObject({ heldBy: { pid: process.pid } });
  expect(record).toContain('mongodb');
});

test('waiting ends when the holder releases the lock', async () => {
  const first = taken();
  let warnings = 0;
  const second = waitForLock(path, () => {
    warnings += 1;
    setTimeout(() => first.release(), 50);
  });
  (await second).release();
  expect(warnings).toBe(1);
});
