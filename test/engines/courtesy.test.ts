// Bulk work rests while the API says that gestures are held up by it, and only then.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCourtesy } from '../../activities/courtesy.js';
import type { Store } from '../../activities/deps.js';
import { createMetrics } from '../../activities/metrics/metrics.js';
import { type SlowdownRow, slowdownId } from '../../schemas/collections.js';
import { startService, type TestService } from '../rig/service.js';
import { quickest } from '../rig/stalls.js';

let service: TestService;
let store: Store;
const never = new AbortController().signal;

beforeAll(async () => {
  service = await startService({ worker: false });
  store = service.store;
});

afterAll(() => service.stop());

const tell = (times: number, agoMs = 0) =>
  store.rows.slowdowns.updateOne(
    { _id: slowdownId },
    { $set: { times, at: new Date(Date.now() - agoMs) } },
    { upsert: true },
  );

const silence = () => store.rows.slowdowns.deleteMany({});

/** A courtesy whose clock moves by hand; a rest ends at once and is noted. */
function aCourtesy(given: Pick<Store, 'rows' | 'log'> = store) {
  const rests: number[] = [];
  const metrics = createMetrics();
  const now = () => new Date();
  let nowMs = 0;
  const courtesy = createCourtesy(
    { ...given, metrics, now },
    { clock: () => nowMs, rest: async (ms) => void rests.push(ms) },
  );
  return {
    rests,
    /** One piece of bulk work that takes so long; answers how long it rested, in times of that. */
    async bulk(tookMs: number): Promise<number> {
      const before = rests.length;
      await courtesy.bulk(async () => {
        nowMs += tookMs;
      }, never);
      return rests.length > before ? (rests.at(-1) ?? 0) / tookMs : 0;
    },
    counted: async () => /^lps_bulk_rest_seconds_total (\S+)$/m.exec(await metrics.registry.metrics())?.[1],
  };
}

describe('bulk work', () => {
  it('does not rest where nobody says that gestures are held up, nor once that was seconds ago', async () => {
    const { bulk, rests } = aCourtesy();
    await silence();
    await bulk(100);
    await tell(4, 3_100);
    await bulk(100);
    await tell(4, -3_600_000);
    await bulk(100);
    expect(rests).toEqual([]);
  });

  it('rests the longer, the longer gestures take beside it, up to thrice what it worked and to a second', async () => {
    const { bulk, rests, counted } = aCourtesy();
    await tell(1.5);
    expect(await bulk(100)).toBeCloseTo(1.5);
    await tell(1.75);
    expect(await bulk(100)).toBeCloseTo(2.25);
    await tell(40);
    expect(await bulk(100)).toBeCloseTo(3);
    await bulk(500);
    expect(rests.at(-1)).toBe(1_000);
    expect(Number(await counted())).toBeCloseTo(rests.reduce((sum, ms) => sum + ms, 0) / 1_000);
  });

  it('never rests longer than that, whatever is said and however long it worked', async () => {
    const any = fc.double({ min: 0.1, max: 60_000, noNaN: true });
    await fc.assert(
      fc.asyncProperty(any, any, async (times, workedMs) => {
        const { bulk, rests } = aCourtesy();
        await tell(times);
        expect(await bulk(workedMs)).toBeLessThanOrEqual(3 + 1e-9);
        for (const ms of rests) expect(ms).toBeLessThanOrEqual(1_000);
      }),
      { numRuns: 50 },
    );
  });

  it('is done where nobody can be asked', async () => {
    const refusing = store.mongo.db().collection<SlowdownRow>('$not.a.name');
    const { bulk, rests } = aCourtesy({ ...store, rows: { ...store.rows, slowdowns: refusing } });
    await tell(4);
    await bulk(100);
    expect(rests).toEqual([]);
  });

  it('passes on what it made, and how it failed', async () => {
    const courtesy = createCourtesy(store);
    await silence();
    expect(await courtesy.bulk(async () => 'made', never)).toBe('made');
    await expect(courtesy.bulk(() => Promise.reject(new Error('no')), never)).rejects.toThrow('no');
  });

  it('goes on at once when a rest is called off, and what was made is made', async () => {
    const resting = async () => {
      let nowMs = 0;
      await tell(4);
      const courtesy = createCourtesy(store, { clock: () => nowMs });
      const stop = new AbortController();
      const work = async () => {
        nowMs += 1_000;
        stop.abort();
        return 'made';
      };
      expect(await courtesy.bulk(work, stop.signal)).toBe('made');
    };
    expect(await quickest(resting, 900)).toBeLessThan(900);
  });
});
