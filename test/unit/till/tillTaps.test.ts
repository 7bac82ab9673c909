// Rules of the till's page that need no browser (docs/till.md).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCall } from '../../../console/till/calls.js';
import { minorUnits, type Tap, undoable, verdictOf } from '../../../console/till/taps.js';

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
  const baseUrl = 'https://cards.example.com';
  const earn = (answer: () => Response) => {
    const sent: Request[] = [];
    const call = createCall({
      baseUrl,
      language: 'de',
      async fetch(request) {
        sent.push(request);
        return answer();
      },
    });
    const options = { token: 'lpr_x', key: 'key-0001' };
    return call('/till/earn', { memberCode: 'A', quantity: 1 }, options).then((told) => ({ told, sent }));
  };
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
    [502, '<html>Bad gateway</html>', 'again'],
    [401, '<html>Sign in to this network</html>', 'again'],
    [200, '{"data":{"current":1}}', 'again'],
    [200, '', 'again'],
  ])('with status %i and %s means: %s, after one attempt', async (status, body, verdict) => {
    const { told, sent } = await earn(() => new Response(body, { status }));
    expect([told.status, verdictOf(told), sent.length]).toEqual([status, verdict, 1]);
  });

  it('that does not come means: again, after one attempt', async () => {
    const { told, sent } = await earn(() => {
      throw new TypeError('fetch failed');
    });
    expect([told, verdictOf(told), sent.length]).toEqual([{ status: 0 }, 'again', 1]);
  });

  it('tells the program of the card, whether it is given again, and how long to wait', async () => {
    const headers = { 'X-Program-Id': 'p', 'Retry-After': '7', 'Idempotent-Replayed': 'true' };
    const { told } = await earn(() => new Response('{"success":true,"data":{"current":1}}', { headers }));
    expect(told).toEqual({ status: 200, data: { current: 1 }, programId: 'p', isRepeat: true });
    const { told: busy } = await earn(() => new Response(refusal('UNAVAILABLE'), { status: 503, headers }));
    expect(busy).toMatchObject({ status: 503, error: { code: 'UNAVAILABLE' }, retryAfterMs: 7_000 });
  });

  it('is asked for with the token of the reader, the key and the language, and without the cookies of the browser', async () => {
    const { sent } = await earn(() => new Response('{"success":true,"data":{"current":1}}'));
    const { headers, credentials, cache, redirect } = sent[0] as Request;
    const names = ['Authorization', 'Idempotency-Key', 'Accept-Language', 'Content-Type'];
    expect(names.map((name) => headers.get(name))).toEqual(['Bearer lpr_x', 'key-0001', 'de', 'application/json']);
    expect([credentials, cache, redirect]).toEqual(['omit', 'no-store', 'error']);
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
