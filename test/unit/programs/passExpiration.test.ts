// What a new expiration date does to passes in use (docs/interface.md#42-programs).
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expirationFindings, requireExpiration } from '../../../activities/programs/passExpiration.rules.js';

const now = new Date('2031-05-06T07:08:09Z');
const moment = fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined });
const withDate = (hours: number | undefined, offset = 'Z') => {
  const at = now.getTime() + (hours ?? 0) * 3_600_000 + (offset === 'Z' ? 0 : 2 * 3_600_000);
  const date = new Date(at).toISOString().replace('Z', offset);
  return { passTemplate: hours === undefined ? {} : { expirationDate: date } };
};

test('a date that has passed is refused unless it is the live one, in whatever offset it is written', () => {
  fc.assert(
    fc.property(moment, moment, (before, after) => {
      const change = { live: withDate(before), next: withDate(after, '+02:00'), now };
      const refused = before !== after && after !== undefined && after <= 0;
      expect(expirationFindings(change).some(({ severity }) => severity === 'error')).toBe(refused);
      if (refused)
        expect(() => requireExpiration(change)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
      else requireExpiration(change);
    }),
  );
});

test('every change of the date is told, and so is a live date that has passed', () => {
  fc.assert(
    fc.property(moment, moment, (before, after) => {
      const told = expirationFindings({ live: withDate(before), next: withDate(after), now }).length;
      expect(told).toBe(before !== after || (after !== undefined && after <= 0) ? 1 : 0);
    }),
  );
});

test('a first version with a date that has passed is refused', () => {
  expect(() => requireExpiration({ live: null, next: withDate(-1), now })).toThrow();
  requireExpiration({ live: null, next: withDate(1), now });
});
