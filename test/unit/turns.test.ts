// Work on one key runs one after another; work on different keys does not wait.
import { MongoNetworkError } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { createTurns } from '../../activities/turns.js';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('turns', () => {
  it('run the work on one key one after another, in the order in which it came', async () => {
    const inTurn = createTurns();
    const seen: string[] = [];
    const work = (name: string, ms: number) => async () => {
      seen.push(`${name} begins`);
      await pause(ms);
      seen.push(`${name} ends`);
      return name;
    };
    const answers = await Promise.all([
      inTurn('m', work('a', 10)),
      inTurn('m', work('b', 1)),
      inTurn('m', work('c', 0)),
    ]);
    expect(answers).toEqual(['a', 'b', 'c']);
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('let different keys run at the same time', async () => {
    const inTurn = createTurns();
    let release = () => {};
    const held = inTurn('one', () => new Promise<void>((resolve) => (release = resolve)));
    await expect(inTurn('other', async () => 'done')).resolves.toBe('done');
    release();
    await held;
  });

  it('go on after work that failed, and tell only its own caller', async () => {
    const inTurn = createTurns();
    const failing = inTurn('m', async () => {
      throw new Error('mine');
    });
    const next = inTurn('m', async () => 'yours');
    await expect(failing).rejects.toThrow('mine');
    await expect(next).resolves.toBe('yours');
  });

  it('are over for all who wait when the database is away, and begin anew with the next', async () => {
    const inTurn = createTurns();
    const away = async () => {
      await pause(1);
      throw new MongoNetworkError('It does not answer.');
    };
    const first = inTurn('m', away);
    const waiting = [inTurn('m', async () => 'never'), inTurn('m', async () => 'never')];
    await expect(first).rejects.toThrow(MongoNetworkError);
    for (const one of waiting) await expect(one).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(inTurn('m', async () => 'again')).resolves.toBe('again');
  });

  it('keep a counter exact however many change it at once', async () => {
    const inTurn = createTurns();
    let counter = 0;
    await Promise.all(
      Array.from({ length: 200 }, () =>
        inTurn('counter', async () => {
          const read = counter;
          await Promise.resolve();
          counter = read + 1;
        }),
      ),
    );
    expect(counter).toBe(200);
  });

  it('are at once for a key that nobody holds any more', async () => {
    const inTurn = createTurns();
    await inTurn('m', async () => {});
    let began = false;
    const again = inTurn('m', async () => {
      began = true;
    });
    expect(began).toBe(true);
    await again;
  });
});
