// How many campaigns fit into a day.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dayMs, fullForMs } from '../../../schemas/batches/campaignRoom.rules.js';

const at = (ms: number) => new Date(Date.UTC(2026, 10, 26) + ms);

it('campaigns that are accepted one after the other, now or for a time to come, are never too many in any 24 hours', () => {
  const times = fc.array(fc.integer({ min: 0, max: 5 * dayMs }), { maxLength: 40 });
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 4 }), (wanted, max) => {
      const accepted: number[] = [];
      for (const time of wanted) {
        const near = accepted.filter((other) => Math.abs(other - time) < dayMs);
        if (fullForMs(near.map(at), at(time), max) === undefined) accepted.push(time);
      }
      for (const from of accepted)
        expect(accepted.filter((time) => time >= from && time < from + dayMs).length).toBeLessThanOrEqual(max);
    }),
  );
});

it('a campaign has room again when the oldest one of the full day is 24 hours old', () => {
  const others = [at(1_000), at(2_000)];
  expect(fullForMs(others, at(3_000), 2)).toBe(dayMs - 2_000);
  expect(fullForMs(others, at(dayMs + 1_000), 2)).toBeUndefined();
  expect(fullForMs(others, at(3_000), 3)).toBeUndefined();
});

it('a campaign that is refused hears the next moment at which it fits', () => {
  const hourMs = 3_600_000;
  const hours = fc.array(fc.integer({ min: -30, max: 120 }), { maxLength: 30 });
  fc.assert(
    fc.property(hours, fc.integer({ min: 1, max: 3 }), (others, max) => {
      const fits = (hour: number, accepted: readonly number[]) =>
        fullForMs(
          accepted.map((one) => at(one * hourMs)),
          at(hour * hourMs),
          max,
        ) === undefined;
      const accepted: number[] = [];
      for (const hour of others) if (fits(hour, accepted)) accepted.push(hour);
      const said =
        fullForMs(
          accepted.map((hour) => at(hour * hourMs)),
          at(0),
          max,
        ) ?? 0;
      const first = Array.from({ length: 400 }, (_, hour) => hour).find((hour) => fits(hour, accepted));
      expect(said / hourMs).toBe(first);
    }),
    { numRuns: 1_000 },
  );
});
