// The memory of one second: one question for all that ask at once, and no memory of what was not there.
import { describe, expect, it } from 'vitest';
import { createRecent } from '../../activities/recent.js';

describe('rows remembered for a second', () => {
  it('are asked for once by all that ask at the same time', async () => {
    const recent = createRecent();
    let asked = 0;
    const load = async () => {
      asked += 1;
      return { asked };
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => recent('a', load)));
    expect(answers).toEqual(Array(20).fill({ asked: 1 }));
    expect(await recent('a', load)).toEqual({ asked: 1 });
    expect(await recent('b', load)).toEqual({ asked: 2 });
  });

  it('are asked for again when they were not there, or could not be had', async () => {
    const recent = createRecent();
    expect(await recent('a', async () => null)).toBeNull();
    await expect(recent('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await recent('a', async () => ({ there: true }))).toEqual({ there: true });
  });
});
