// Lots (docs/interface.md#36-expiry): they always add up to the balance, spendings take the points that expire first,
// and a reversal restores them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addLot,
  expiringOf,
  type Lot,
  type LotChange,
  maxLots,
  removeExpired,
  spend,
  sumOf,
  undo,
} from '../../../schemas/points/lots.rules.js';

const day = (count: number): Date => new Date(Date.UTC(2026, 0, 1 + count));

/** Lots as they are created: added one after the other, some of them partly spent. */
const someLots = fc
  .array(fc.record({ points: fc.integer({ min: 1, max: 50 }), day: fc.integer({ min: 0, max: 20 }) }), {
    maxLength: 12,
  })
  .map((all) =>
    all.reduce<Lot[]>((lots, { points, day: at }, id) => addLot(lots, { id: id + 1, points, at: day(at) }).lots, []),
  );

const byOf = (changes: readonly LotChange[]): number => changes.reduce((sum, { by }) => sum + by, 0);

function requireSound(lots: readonly Lot[]): void {
  expect(lots.length).toBeLessThanOrEqual(maxLots);
  for (const [index, { left, points, at }] of lots.entries()) {
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(points);
    expect(at.getTime()).toBeGreaterThanOrEqual(lots[index - 1]?.at.getTime() ?? 0);
  }
}

describe('lots', () => {
  it('are spent in the order in which they expire, as far as they go', () => {
    fc.assert(
      fc.property(someLots, fc.double({ min: 0, max: 1, noNaN: true }), (lots, part) => {
        const points = Math.floor(sumOf(lots) * part);
        const after = spend(lots, points);
        requireSound(after.lots);
        expect(sumOf(after.lots)).toBe(sumOf(lots) - points);
        expect(byOf(after.changes) + points).toBe(0);
        const untouched = after.lots.filter(({ id, left }) => lots.some((lot) => lot.id === id && lot.left === left));
        const lastTaken = after.changes.at(-1)?.at.getTime() ?? 0;
        for (const { at } of untouched) expect(at.getTime()).toBeGreaterThanOrEqual(lastTaken);
      }),
    );
  });

  it('are restored when a spending is reversed, also after other spendings and additions', () => {
    fc.assert(
      fc.property(someLots, fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 6 }), (lots, spendings) => {
        const rows: LotChange[][] = [];
        let now = lots;
        for (const wanted of spendings) {
          const after = spend(now, Math.min(wanted, sumOf(now)));
          rows.push(after.changes);
          now = after.lots;
        }
        for (const changes of rows) {
          const points = Math.abs(byOf(changes));
          const after = undo(now, changes, points);
          expect(byOf(after.changes)).toBe(points);
          requireSound(after.lots);
          now = after.lots;
        }
        expect(now).toEqual(lots);
      }),
    );
  });

  it('give up a reversed earning from its own lot first, then from the lots that expire next', () => {
    const lots = [
      { id: 1, points: 30, left: 30, at: day(1) },
      { id: 2, points: 20, left: 5, at: day(2) },
      { id: 3, points: 10, left: 10, at: day(3) },
    ];
    const own = [{ id: 2, points: 20, at: day(2), by: 20 }];
    const after = undo(lots, own, -20);
    expect(after.lots.map(({ id, left }) => [id, left])).toEqual([
      [1, 15],
      [3, 10],
    ]);
    expect(after.changes.map(({ id, by }) => [id, by])).toEqual([
      [2, -5],
      [1, -15],
    ]);
  });

  it('that were refilled after their expiry expire again', () => {
    const lots = addLot([], { id: 1, points: 10, at: day(1) }).lots;
    const spent = spend(lots, 4);
    const gone = removeExpired(spent.lots, day(1));
    expect([sumOf(gone.lots), byOf(gone.changes)]).toEqual([0, -6]);
    const back = undo(gone.lots, spent.changes, 4);
    expect(back.lots).toEqual([{ id: 1, points: 10, left: 4, at: day(1) }]);
    expect(removeExpired(back.lots, day(1))).toEqual({
      lots: [],
      changes: [{ id: 1, points: 10, at: day(1), by: -4 }],
    });
  });

  it('expire when they are due and not before', () => {
    fc.assert(
      fc.property(someLots, fc.integer({ min: -1, max: 21 }), (lots, at) => {
        const after = removeExpired(lots, day(at));
        expect(after.lots).toEqual(lots.filter((lot) => lot.at > day(at)));
        expect(byOf(after.changes)).toBe(sumOf(after.lots) - sumOf(lots));
      }),
    );
  });

  it('are merged above their maximum number, so that no point expires early', () => {
    let lots: Lot[] = [];
    const due: [Date, number][] = [];
    for (let id = 1; id <= 3 * maxLots; id += 1) {
      const at = day(id % 7 === 0 ? 5 : id);
      due.push([at, 2]);
      lots = addLot(lots, { id, points: 2, at }).lots;
      expect(sumOf(lots)).toBe(2 * id);
    }
    requireSound(lots);
    expect(lots).toHaveLength(maxLots);
    for (let count = 0; count <= 3 * maxLots; count += 10) {
      const over = due.filter(([at]) => at <= day(count)).reduce((sum, [, points]) => sum + points, 0);
      expect(-byOf(removeExpired(lots, day(count)).changes)).toBeLessThanOrEqual(over);
    }
  });

  it('with the same expiry are merged first', () => {
    let lots = addLot([], { id: 1, points: 1, at: day(900) }).lots;
    for (let id = 2; id <= 2 * maxLots; id += 1) lots = addLot(lots, { id, points: 1, at: day(id % 100) }).lots;
    expect(lots.filter(({ points }) => points > 1).length).toBeGreaterThan(0);
    expect(new Set(lots.map(({ at }) => at.getTime())).size).toBe(101);
    // The reversal of an earning whose lot was merged takes the points from the merged lot.
    const after = undo(lots, [{ id: 2, points: 1, at: day(2), by: 1 }], -1);
    expect(after.changes.map(({ at, by }) => [at, by])).toEqual([[day(2), -1]]);
  });

  it('that expire at the same moment are one line', () => {
    const lots = [1, 1, 2, 3, 4].map((at, index) => ({ id: index, points: 9, left: index + 1, at: day(at) }));
    expect(expiringOf(lots)).toEqual([
      { points: 3, at: day(1) },
      { points: 3, at: day(2) },
      { points: 4, at: day(3) },
    ]);
  });
});
