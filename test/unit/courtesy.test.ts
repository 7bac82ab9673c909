// Bulk work rests when gestures take longer beside it than they take otherwise, and only then.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCourtesy } from '../../activities/courtesy.js';
import { quickest } from '../rig/stalls.js';

const never = new AbortController().signal;

/** A courtesy whose clock moves by hand; a rest ends at once and is noted. */
function aCourtesy() {
  const rests: number[] = [];
  const counted: number[] = [];
  let nowMs = 0;
  const courtesy = createCourtesy({
    metrics: { rested: (seconds) => void counted.push(seconds) },
    clock: () => nowMs,
    rest: async (ms) => {
      rests.push(ms);
      nowMs += ms;
    },
  });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  /** So many claims, a tenth of a second apart. */
  const claims = (count: number, tookMs: number) => {
    for (let index = 0; index < count; index += 1) {
      pass(100 + tookMs);
      courtesy.claimTook(tookMs);
    }
  };
  /** One piece of bulk work with so many claims meanwhile; answers how often it rested of the time that it took. */
  const bulk = async (count: number, tookMs: number) => {
    const before = rests.length;
    const begunAt = nowMs;
    let workedMs = 0;
    await courtesy.bulk(async () => {
      claims(count, tookMs);
      workedMs = nowMs - begunAt;
    }, never);
    return rests.length > before ? (rests.at(-1) ?? 0) / workedMs : 0;
  };
  return { courtesy, rests, counted, pass, claims, bulk };
}

describe('bulk work', () => {
  it('does not rest beside nobody, nor before it is known what claims take otherwise', async () => {
    const { claims, bulk, rests } = aCourtesy();
    await bulk(0, 0);
    await bulk(5, 400);
    claims(10, 4);
    await bulk(0, 0);
    expect(rests).toEqual([]);
  });

  it('does not rest beside gestures that take what they always take, more or less', async () => {
    const { claims, bulk, rests } = aCourtesy();
    for (let index = 0; index < 30; index += 1) claims(1, 3 + (index % 3));
    for (let index = 0; index < 30; index += 1) await bulk(1, 4 + (index % 3));
    expect(rests).toEqual([]);
  });

  it('rests the longer, the longer they take beside it, up to thrice what it worked', async () => {
    const { claims, bulk } = aCourtesy();
    claims(20, 4);
    for (let index = 0; index < 30; index += 1) await bulk(1, 8);
    expect(await bulk(1, 8)).toBeCloseTo(0.5);
    for (let index = 0; index < 30; index += 1) await bulk(1, 12);
    expect(await bulk(1, 12)).toBeCloseTo(1.5);
    for (let index = 0; index < 30; index += 1) await bulk(1, 40);
    expect(await bulk(1, 40)).toBe(3);
    for (let index = 0; index < 40; index += 1) await bulk(1, 4);
    expect(await bulk(1, 4)).toBe(0);
  });

  it('does not rest for a single claim that was slow, however slow', async () => {
    const { claims, bulk } = aCourtesy();
    claims(20, 4);
    for (let index = 0; index < 5; index += 1) await bulk(1, 4);
    expect(await bulk(1, 30_000)).toBe(0);
  });

  it('takes a claim that it only met halfway for one beside it', async () => {
    const { courtesy, claims, bulk, pass } = aCourtesy();
    claims(20, 4);
    await bulk(0, 0);
    for (let index = 0; index < 30; index += 1) {
      await bulk(0, 0);
      pass(10);
      courtesy.claimTook(40);
    }
    expect(await bulk(1, 40)).toBe(3);
  });

  it('rests no more once no gesture was held up for seconds', async () => {
    const { claims, bulk, pass } = aCourtesy();
    claims(20, 4);
    for (let index = 0; index < 30; index += 1) await bulk(1, 40);
    expect(await bulk(1, 40)).toBe(3);
    pass(3_001);
    expect(await bulk(0, 0)).toBe(0);
  });

  it('comes to terms with engines that have become slower for good', async () => {
    const { claims, bulk } = aCourtesy();
    claims(20, 4);
    for (let index = 0; index < 30; index += 1) await bulk(1, 16);
    expect(await bulk(1, 16)).toBeGreaterThan(2);
    claims(40, 16);
    expect(await bulk(1, 16)).toBe(0);
  });

  it('never rests longer than thrice what it worked, nor than a second, and all of it is counted', async () => {
    const took = fc.double({ min: 0.1, max: 60_000, noNaN: true });
    await fc.assert(
      fc.asyncProperty(fc.array(took), fc.array(took), async (otherwise, beside) => {
        const { claims, bulk, rests, counted } = aCourtesy();
        for (const ms of otherwise) claims(1, ms);
        for (const ms of beside) {
          const times = await bulk(1, ms);
          expect(times).toBeLessThanOrEqual(3 + 1e-9);
        }
        for (const ms of rests) expect(ms).toBeLessThanOrEqual(1_000);
        expect(counted).toEqual(rests.map((ms) => ms / 1_000));
      }),
    );
  });

  it('passes on what it made, and how it failed', async () => {
    const { courtesy } = aCourtesy();
    expect(await courtesy.bulk(async () => 'made', never)).toBe('made');
    await expect(courtesy.bulk(() => Promise.reject(new Error('no')), never)).rejects.toThrow('no');
  });
});

it('a rest ends when it is called off, and what was made is made', async () => {
  expect(await quickest(resting, 900)).toBeLessThan(900);
});

async function resting(): Promise<void> {
  let nowMs = 0;
  const counted: number[] = [];
  const courtesy = createCourtesy({ metrics: { rested: (seconds) => void counted.push(seconds) }, clock: () => nowMs });
  courtesy.claimTook(1);
  const stop = new AbortController();
  const work = async () => {
    for (let index = 0; index < 30; index += 1) courtesy.claimTook(10_000);
    nowMs += 1_000;
    stop.abort();
    return 'made';
  };
  expect(await courtesy.bulk(work, stop.signal)).toBe('made');
  expect(counted).toEqual([1]);
}
