import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counted, missingOf, noTaps, overdueOf, receivedOf, withArrivals } from '../../../schemas/till/taps.rules.js';

const now = new Date('2026-03-01T09:00:00Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const arrive = (...sequences: number[]) =>
  withArrivals(
    noTaps,
    sequences.map((sequence) => ({ sequence, at: now })),
  );
const gapsOf = (taps: ReturnType<typeof arrive>) => taps.gaps.map(({ from, to }) => [from, to]);

describe('the taps of a till', () => {
  it('that arrive in any order leave no gap', () => {
    expect(arrive(3, 1, 2)).toEqual({ upTo: 3, gaps: [] });
  });

  it('that were counted and never came are a gap, which a late one makes smaller', () => {
    const taps = counted(arrive(1, 2, 5), 8, now);
    expect(gapsOf(taps)).toEqual([
      [3, 4],
      [6, 8],
    ]);
    expect([receivedOf(taps), missingOf(taps)]).toEqual([3, 5]);
    expect(gapsOf(withArrivals(taps, [{ sequence: 7, at: now }]))).toEqual([
      [3, 4],
      [6, 6],
      [8, 8],
    ]);
  });

  it('are overdue after a minute, counted from when the service learned of them', () => {
    const taps = counted(counted(arrive(1), 3, now), 9, later(30_000));
    expect(overdueOf(taps, later(60_000))).toBe(0);
    expect(overdueOf(taps, later(60_001))).toBe(2);
    expect(overdueOf(taps, later(90_001))).toBe(8);
  });

  it('are missing exactly when they were counted and have not arrived, whatever the order and the repetitions', () => {
    const step = fc.oneof(
      fc.record({ arrivals: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 8 }) }),
      fc.record({ upTo: fc.integer({ min: 0, max: 70 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const seen = new Set<number>();
        let known = 0;
        let taps = noTaps;
        for (const each of steps) {
          if ('upTo' in each) {
            known = Math.max(known, each.upTo);
            taps = counted(taps, each.upTo, now);
            continue;
          }
          for (const sequence of each.arrivals) seen.add(sequence);
          known = Math.max(known, ...each.arrivals);
          taps = withArrivals(
            taps,
            each.arrivals.map((sequence) => ({ sequence, at: now })),
          );
        }
        const missing = taps.gaps.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
        const expected = Array.from({ length: known }, (_, i) => i + 1).filter((sequence) => !seen.has(sequence));
        expect(missing).toEqual(expected);
        expect([taps.upTo, receivedOf(taps)]).toEqual([known, seen.size]);
      }),
    );
  });

  it('of a till that skips numbers all the time fill a bounded row, which names none that arrived', () => {
    const { gaps } = withArrivals(
      noTaps,
      Array.from({ length: 5_000 }, (_, index) => ({ sequence: 2 * index + 1, at: now })),
    );
    expect(gaps.length).toBeLessThanOrEqual(2_000);
    const steps = fc.array(
      fc.oneof(
        fc.record({ late: fc.array(fc.integer({ min: 1, max: 9_000 }), { maxLength: 200 }) }),
        fc.record({ counts: fc.integer({ min: 0, max: 9_100 }) }),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 4 }), fc.boolean(), steps, (stride, isCounted, later_) => {
        const first = Array.from({ length: 2_100 }, (_, index) => (index + 1) * stride);
        const seen = new Set(first);
        // Either the gaps come one by one, or one gap is split again and again.
        const begin = isCounted ? counted(noTaps, 2_100 * stride, now) : noTaps;
        let known = 2_100 * stride;
        let taps = withArrivals(
          begin,
          first.map((sequence) => ({ sequence, at: now })),
        );
        let isExact = true;
        for (const each of later_) {
          if ('counts' in each) {
            known = Math.max(known, each.counts);
            taps = counted(taps, each.counts, now);
          } else {
            isExact &&= each.late.every(
              (sequence, index) => !seen.has(sequence) && each.late.indexOf(sequence) === index,
            );
            for (const sequence of each.late) seen.add(sequence);
            known = Math.max(known, ...each.late);
            taps = withArrivals(
              taps,
              each.late.map((sequence) => ({ sequence, at: now })),
            );
          }
          const missing = known - seen.size;
          expect(taps.gaps.length).toBeLessThanOrEqual(2_000);
          const named = taps.gaps.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
          expect(named.filter((sequence) => seen.has(sequence))).toEqual([]);
          expect(missingOf(taps)).toBeLessThanOrEqual(missing);
          if (isExact) expect([missingOf(taps), overdueOf(taps, later(60_001))]).toEqual([missing, missing]);
        }
      }),
      { numRuns: 10 },
    );
  });
});
