// Work on one key runs one after another; work on different keys does not wait.
import { MongoNetworkError } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { createKeyedMutex } from '../../../platform/keyedMutex.js';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('the keyed mutex', () => {
  it('runs the work on one key one after another, in the order of the calls', async () => {
    const runExclusive = createKeyedMutex();
    const seen: string[] = [];
    const work = (name: string, ms: number) => async () => {
      seen.push(`${name} begins`);
      await pause(ms);
      seen.push(`${name} ends`);
      return name;
    };
    const answers = await Promise.all([
      runExclusive('m', work('a', 10)),
      runExclusive('m', work('b', 1)),
      runExclusive('m', work('c', 0)),
    ]);
    expect(answers).toEqual(['a', 'b', 'c']);
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('lets different keys run at the same time', async () => {
    const runExclusive = createKeyedMutex();
    let release = () => {};
    const held = runExclusive('one', () => new Promise<void>((resolve) => (release = resolve)));
    await expect(runExclusive('other', async () => 'done')).resolves.toBe('done');
    release();
    await held;
  });

  it('continues after work that failed, and only its own caller gets the error', async () => {
    const runExclusive = createKeyedMutex();
    const failing = runExclusive('m', async () => {
      throw new Error('mine');
    });
    const next = runExclusive('m', async () => 'yours');
    await expect(failing).rejects.toThrow('mine');
    await expect(next).resolves.toBe('yours');
  });

  it('fails all waiting calls when the database is unavailable, and serves later ones', async () => {
    const runExclusive = createKeyedMutex();
    const failing = async () => {
      await pause(1);
      throw new MongoNetworkError('It does not answer.');
    };
    const first = runExclusive('m', failing);
    const waiting = [runExclusive('m', async () => 'never'), runExclusive('m', async () => 'never')];
    await expect(first).rejects.toThrow(MongoNetworkError);
    for (const one of waiting) await expect(one).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(runExclusive('m', async () => 'again')).resolves.toBe('again');
  });

  it('keeps a counter exact under concurrent changes', async () => {
    const runExclusive = createKeyedMutex();
    let counter = 0;
    await Promise.all(
      Array.from({ length: 200 }, () =>
        runExclusive('counter', async () => {
          const read = counter;
          await Promise.resolve();
          counter = read + 1;
        }),
      ),
    );
    expect(counter).toBe(200);
  });

  it('runs work at once for a key that is not held', async () => {
    const runExclusive = createKeyedMutex();
    await runExclusive('m', async () => {});
    let began = false;
    const again = runExclusive('m', async () => {
      began = true;
    });
    expect(began).toBe(true);
    await again;
  });
});
