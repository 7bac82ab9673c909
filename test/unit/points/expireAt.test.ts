// The time that `npm run programs -- expire --at` takes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { momentOf } from '../../../stack/commands/programs.js';

const moments = fc.date({ min: new Date('2001-01-01'), max: new Date('2099-01-01'), noInvalidDate: true });

test('a time may have any number of digits for the fraction of its second, or no seconds', () => {
  fc.assert(
    fc.property(moments, fc.stringMatching(/^\d{1,9}$/), (at, fraction) => {
      const second = Math.floor(at.getTime() / 1_000) * 1_000;
      const whole = new Date(second).toISOString().slice(0, 19);
      expect(momentOf(`${whole}.${fraction}Z`)).toBe(second + Number(fraction.padEnd(3, '0').slice(0, 3)));
      expect(momentOf(`${whole}+02:00`)).toBe(second - 7_200_000);
      expect(momentOf(`${whole.slice(0, 16)}Z`)).toBe(second - (second % 60_000));
      expect(() => momentOf(`${whole}.${fraction}`)).toThrow('lacks its offset');
    }),
  );
});

test.each([
  '2030-02-30T00:00:00Z',
  '2030-13-01T00:00:00Z',
  '2030-01-01',
  '12:00',
  '',
  'tomorrow',
  '2030-01-01T25:00:00Z',
])('a text that is no time is refused as such: %j', (text) => {
  expect(() => momentOf(text)).toThrow('is no time');
});
