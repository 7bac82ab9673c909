// A process counts as stuck when it did no work for some time, not when single probes fail.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { becomesStuck } from '../../../stack/watch.js';

let folder: string;
let logFile: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'watch-'));
  logFile = join(folder, 'engine.log');
  writeFileSync(logFile, '');
});
afterAll(() => rmSync(folder, { recursive: true }));

const limits = { everyMs: 10, withinMs: 200, stuckMs: 1_000 };

async function watched(
  probe: () => Promise<void>,
  { forMs, ...other }: { forMs: number; stuckMs?: number },
): Promise<string | undefined> {
  const ended = new AbortController();
  const reason = becomesStuck({ probe }, { logFile, ended: ended.signal, limits: { ...limits, ...other } });
  const late = sleep(forMs, undefined, { ref: false }).then(() => ended.abort());
  const result = await reason;
  ended.abort();
  void late;
  return result;
}

describe.concurrent('a process is not stuck', () => {
  // Far longer than its probes fail in a row, also on a machine that stalls, and far shorter than it is watched.
  const patient = { stuckMs: 3_000, forMs: 6_000 };

  it('when some of its probes fail at once, however many in a row', async () => {
    let asked = 0;
    const probe = async () => {
      asked += 1;
      if (asked % 4 !== 0) throw new Error('refused');
    };
    expect(await watched(probe, patient)).toBeUndefined();
    expect(asked).toBeGreaterThan(8);
  });

  it('when it answers a probe now and then', async () => {
    let asked = 0;
    const probe = () => {
      asked += 1;
      return asked % 3 === 0 ? Promise.resolve() : new Promise<void>(() => {});
    };
    expect(await watched(probe, patient)).toBeUndefined();
  });
});

describe('a process is stuck', () => {
  it('when all its probes fail for the given time', async () => {
    expect(await watched(() => Promise.reject(new Error('takes no writes')), { forMs: 5_000 })).toBe('takes no writes');
  });

  it('when it answers no probe for the given time', async () => {
    expect(await watched(() => new Promise(() => {}), { forMs: 5_000 })).toBe('gives no answer for 0.2 s');
  });

  it('at once when it logs a line after which it does not recover', async () => {
    const ended = new AbortController();
    const probe = async () => writeFileSync(logFile, 'WT_PANIC\n');
    const watch = { probe, hopeless: /WT_PANIC/ };
    expect(await becomesStuck(watch, { logFile, ended: ended.signal, limits })).toBe('says "WT_PANIC"');
  });
});
