// Rules of the till's page that need no browser (docs/till.md).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minorUnits, readAnswer, type Tap, undoable, verdictOf } from '../../../console/till/taps.js';

describe('an amount', () => {
  it('is read in minor units of its currency, with a point or a comma', () => {
    fc.assert(
      fc.property(fc.nat(99_999_999), fc.constantFrom('.', ','), (cents, point) => {
        const text = `${Math.floor(cents / 100)}${point}${String(cents % 100).padStart(2, '0')}`;
        expect(minorUnits(text, 'EUR')).toBe(cents);
      }),
    );
    expect(minorUnits(' 12 ', 'EUR')).toBe(1_200);
    expect(minorUnits('12,5', 'EUR')).toBe(1_250);
    expect(minorUnits('500', 'JPY')).toBe(500);
    expect(minorUnits('1.234', 'KWD')).toBe(1_234);
  });

  it.each(['', '-1', '1.234', '1,2,3', 'abc', '1e3', '.5'])('is not read from %j in euros', (text) => {
    expect(minorUnits(text, 'EUR')).toBeUndefined();
  });
});

describe('an answer', () => {
  const answer = (status: number, body: string) => verdictOf(readAnswer({ status, headers: new Headers() }, body));
  const refusal = (code: string) => JSON.stringify({ success: false, error: { code, message: 'no' } });

  it.each([
    [200, '{"success":true,"data":{"current":1}}', 'sent'],
    [200, '<html>Welcome to the hotel</html>', 'again'],
    [404, '<html>Not found</html>', 'again'],
    [404, refusal('MEMBER_NOT_FOUND'), 'refused'],
    [404, refusal('ROUTE_NOT_FOUND'), 'again'],
    [400, refusal('CARD_FULL'), 'refused'],
    [409, refusal('NOTHING_TO_UNDO'), 'refused'],
    [409, refusal('IDEMPOTENCY_KEY_IN_USE'), 'again'],
    [401, refusal('INVALID_TOKEN'), 'shutOut'],
    [403, refusal('MERCHANT_SUSPENDED'), 'shutOut'],
    [408, refusal('REQUEST_TIMEOUT'), 'again'],
    [429, refusal('RATE_LIMITED'), 'again'],
    [503, refusal('UNAVAILABLE'), 'again'],
    [0, '', 'again'],
  ])('with status %i and %s means: %s', (status, body, verdict) => {
    expect(answer(status, body)).toBe(verdict);
  });
});

describe('an undo', () => {
  const tap = (part: Partial<Tap>): Tap =>
    ({
      ...{ id: 1, device: 'd', sequence: 1, key: 'k', at: 0, occurredAt: '', state: 'sent' },
      ...({ kind: 'earn', quantity: 1, code: 'A', name: 'Ada', delta: 1 } as const),
      ...part,
    }) as Tap;
  const undo = tap({ kind: 'undo', sequence: 3, undoes: 2 } as Partial<Tap>);

  it('takes back the last change of the member that was not refused, for ten minutes, once', () => {
    const taps = [tap({}), tap({ sequence: 2, state: 'waiting' }), tap({ sequence: 4, code: 'B' })];
    expect(undoable(taps, 'A', 600_000)?.sequence).toBe(2);
    expect(undoable(taps, 'A', 600_001)).toBeUndefined();
    expect(undoable([...taps, tap({ sequence: 5, state: 'refused' })], 'A', 0)?.sequence).toBe(2);
    expect(undoable([...taps, undo], 'A', 0)).toBeUndefined();
    expect(undoable([...taps, { ...undo, state: 'refused' }], 'A', 0)?.sequence).toBe(2);
    expect(undoable([...taps, undo, tap({ sequence: 6 })], 'A', 0)?.sequence).toBe(6);
  });
});
