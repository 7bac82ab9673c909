// Bulk work rests when gestures take longer than they do at their best here, and only then.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCourtesy, withCourtesy } from '../../activities/courtesy.js';

/** A courtesy whose clock stands at `now.ms`. */
function aCourtesy() {
  const now = { ms: 0 };
  const courtesy = createCourtesy(() => now.ms);
  return {
    courtesy,
    now,
    /** So many claims, a tenth of a second apart. */
    claims(count: number, tookMs: number) {
      for (let index = 0; index < count; index += 1) {
        now.ms += 100;
        courtesy.claimTook(tookMs);
      }
    },
  };
}

describe('bulk work', () => {
  it('does not rest while no gesture comes by, nor beside gestures that are as quick as ever', () => {
    const { courtesy, claims } = aCourtesy();
    expect(courtesy.restMs(100)).toBe(0);
    claims(50, 4);
    expect(courtesy.restMs(100)).toBe(0);
    claims(50, 6);
    expect(courtesy.restMs(100)).toBe(0);
  });

  it('rests the longer, the slower they have become, and no more once they are quick again', () => {
    const { courtesy, claims } = aCourtesy();
    claims(10, 4);
    claims(20, 8);
    const twice = courtesy.restMs(100);
    claims(20, 12);
    const thrice = courtesy.restMs(100);
    expect(twice).toBeGreaterThan(40);
    expect(twice).toBeLessThan(60);
    expect(thrice).toBeGreaterThan(140);
    expect(thrice).toBeLessThan(160);
    claims(20, 4);
    expect(courtesy.restMs(100)).toBe(0);
  });

  it('does not rest for a single claim among many that was slow', () => {
    const { courtesy, claims } = aCourtesy();
    claims(10, 4);
    claims(1, 12);
    expect(courtesy.restMs(100)).toBe(0);
  });

  it('rests no more a second after the last gesture, and begins anew with the next', () => {
    const { courtesy, now, claims } = aCourtesy();
    claims(1, 4);
    claims(20, 40);
    expect(courtesy.restMs(100)).toBe(300);
    now.ms += 1_000;
    expect(courtesy.restMs(100)).toBe(0);
    claims(1, 4);
    expect(courtesy.restMs(100)).toBe(0);
  });

  it('comes to terms with engines that have become slower for good', () => {
    const { courtesy, claims } = aCourtesy();
    claims(10, 4);
    claims(100, 16);
    expect(courtesy.restMs(100)).toBeGreaterThan(200);
    claims(2_500, 16);
    expect(courtesy.restMs(100)).toBe(0);
  });

  it('never rests longer than thrice what it worked, nor than a second', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.1, max: 60_000, noNaN: true }), { maxLength: 40 }),
        fc.double({ min: 0, max: 600_000, noNaN: true }),
        (took, workedMs) => {
          const { courtesy, claims } = aCourtesy();
          for (const ms of took) claims(1, ms);
          const restMs = courtesy.restMs(workedMs);
          expect(restMs).toBeGreaterThanOrEqual(0);
          expect(restMs).toBeLessThanOrEqual(Math.min(workedMs * 3, 1_000));
        },
      ),
    );
  });
});

describe('a rest', () => {
  const resting = (restMs: number) => {
    const rested: number[] = [];
    const deps = {
      courtesy: { claimTook: () => {}, restMs: () => restMs },
      metrics: { rested: (seconds: number) => void rested.push(seconds) },
    };
    return { rested, deps: deps as unknown as Parameters<typeof withCourtesy>[0] };
  };
  const never = new AbortController().signal;

  it('comes after the work, is counted, and passes on what the work made', async () => {
    const { deps, rested } = resting(60);
    let madeAt = 0;
    const work = async () => {
      madeAt = performance.now();
      return 'made';
    };
    expect(await withCourtesy(deps, { work, signal: never })).toBe('made');
    expect(performance.now() - madeAt).toBeGreaterThanOrEqual(55);
    expect(rested).toEqual([0.06]);
  });

  it('ends when the worker stops, and what was made is made', async () => {
    const { deps } = resting(60_000);
    const stop = new AbortController();
    const made = withCourtesy(deps, { work: async () => 'made', signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    expect(await made).toBe('made');
  });

  it('does not follow work that failed', async () => {
    const { deps, rested } = resting(60_000);
    const failing = withCourtesy(deps, { work: () => Promise.reject(new Error('no')), signal: never });
    await expect(failing).rejects.toThrow('no');
    expect(rested).toEqual([]);
  });
});
