// The client of the SDK against answers that the test makes up.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { retryAfterMs } from '../../../sdk/errors.js';
import { createClient, LoyaltyError } from '../../../sdk/index.js';
import { keyedOperations } from '../../../sdk/keyedOperations.js';
import { backoffMs, type RetryOptions } from '../../../sdk/retry.js';

type Outcome = number | 'broken' | 'cut' | 'in use' | Response;

const refusal = (code: string, extra: object = {}) => ({ success: false, error: { code, message: 'No.', ...extra } });
const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } });

function answerOf(outcome: Outcome): Response {
  if (outcome instanceof Response) return outcome;
  if (outcome === 'broken') throw new TypeError('fetch failed');
  if (outcome === 'in use') return json(409, refusal('IDEMPOTENCY_KEY_IN_USE'));
  if (outcome === 'cut') {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"success":'));
        controller.error(new TypeError('terminated'));
      },
    });
    return new Response(body, { status: 200, headers: { 'Content-Type': 'application/json' } });
  }
  return outcome < 300 ? json(outcome, { success: true, data: { id: 'm' } }) : json(outcome, refusal('NO'));
}

/** A client whose attempts end so, one after the other; the last outcome repeats. */
function clientOf(outcomes: readonly Outcome[], retry: RetryOptions = {}) {
  const sent: { request: Request; body: string; at: number }[] = [];
  const client = createClient({
    baseUrl: 'https://cards.example.com/',
    apiKey: 'lps_key',
    retry,
    async fetch(request) {
      const outcome = outcomes[Math.min(sent.length, outcomes.length - 1)] ?? 200;
      sent.push({ request, body: await request.text(), at: Date.now() });
      return answerOf(outcome);
    },
  });
  return { client, sent };
}

/** Settles while the clock runs as fast as it can. */
async function settled<T>(call: Promise<T>): Promise<{ value?: T; error?: unknown }> {
  const result = call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await vi.runAllTimersAsync();
  return result;
}

const at = { params: { path: { id: 'm' } } };
type Client = ReturnType<typeof createClient>;
const keyed = (client: Client) => client.PATCH('/merchants/me/members/{id}/points', { ...at, body: { delta: 1 } });
const unkeyed = (client: Client) => client.POST('/merchants/me/members/{id}/tags', { ...at, body: { tags: ['vip'] } });
const reading = (client: Client) => client.GET('/merchants/me/members/{id}', at);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a call', () => {
  it('answers the data of the envelope', async () => {
    const { client, sent } = clientOf([200]);
    const { data, response } = await reading(client);
    expect(data).toEqual({ id: 'm' });
    expect(response.status).toBe(200);
    expect(sent[0]?.request.url).toBe('https://cards.example.com/api/v1/merchants/me/members/m');
    expect(sent[0]?.request.headers.get('X-API-Key')).toBe('lps_key');
  });

  it.each(['https://a.example', 'https://a.example/api/v1', 'https://a.example/api/v1/'])(
    'takes a base URL with or without the prefix: %s',
    async (baseUrl) => {
      const urls: string[] = [];
      const answer = async ({ url }: Request) => {
        urls.push(url);
        return json(200, { success: true, data: [] });
      };
      await createClient({ baseUrl, token: 't', fetch: answer }).GET('/merchants/me/programs');
      expect(urls).toEqual(['https://a.example/api/v1/merchants/me/programs']);
    },
  );

  it('answers the text of a CSV', async () => {
    const csv = new Response('a,b\n1,2\n', { headers: { 'Content-Type': 'text/csv; charset=utf-8' } });
    const { client } = clientOf([csv]);
    const { data } = await client.GET('/merchants/me/members/{id}/events.csv', at);
    expect(data).toBe('a,b\n1,2\n');
  });

  it('sends a file as a form', async () => {
    const { client, sent } = clientOf([200]);
    const file = new File(['firstName\nAda\n'], 'members.csv', { type: 'text/csv' });
    await client.POST('/merchants/me/members/import', { body: { programId: 'p', file } });
    expect(sent[0]?.request.headers.get('Content-Type')).toMatch(/^multipart\/form-data; boundary=/);
    expect(sent[0]?.body).toContain('filename="members.csv"\r\nContent-Type: text/csv\r\n\r\nfirstName\nAda\n');
  });

  it('throws what the service says when it refuses', async () => {
    const details = { goal: 10, current: 7, missing: 3 };
    const body = refusal('CARD_NOT_FULL', { display: 'Three are missing.', details });
    const { client } = clientOf([json(400, body, { 'X-Request-Id': 'req_12345678' })]);
    const { error } = await settled(keyed(client));
    expect(error).toBeInstanceOf(LoyaltyError);
    expect(error).toMatchObject({
      status: 400,
      code: 'CARD_NOT_FULL',
      message: 'No.',
      display: 'Three are missing.',
      details,
      requestId: 'req_12345678',
    });
  });

  it.each([
    [418, '<h1>Not here</h1>', 'text/html'],
    [200, '<h1>Accept the conditions of this hotel</h1>', 'text/html'],
    [200, '{"status":"ok"}', 'application/json'],
    [200, '"ok"', 'application/json'],
    [200, 'null', 'application/json'],
    [200, '{"success":', 'application/json'],
    [200, '', 'application/json'],
  ])('is refused with the status when something on the way answers %i %s', async (status, body, type) => {
    const { client } = clientOf([new Response(body, { status, headers: { 'Content-Type': type } })]);
    const { error } = await settled(reading(client));
    expect(error).toMatchObject({ status, code: 'UNEXPECTED', message: `HTTP ${status}` });
  });

  it('says how long the service asked to wait', async () => {
    const { client } = clientOf([json(503, refusal('UNAVAILABLE'), { 'Retry-After': '7' })], { tries: 1 });
    expect((await settled(keyed(client))).error).toMatchObject({ code: 'UNAVAILABLE', retryAfterMs: 7_000 });
    const { client: other } = clientOf([400]);
    expect((await settled(keyed(other))).error).toMatchObject({ retryAfterMs: 0 });
  });

  it('needs nothing that the browsers of older tablets lack', async () => {
    vi.stubGlobal('AbortSignal', { timeout: undefined, any: undefined });
    const { client } = clientOf([200]);
    expect((await reading(client)).data).toEqual({ id: 'm' });
    vi.unstubAllGlobals();
  });
});

describe('retries', () => {
  it('know every operation that takes an idempotency key', () => {
    const document: { paths: Record<string, Record<string, { parameters?: object[] }>> } = JSON.parse(
      readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'),
    );
    const taking = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { parameters }]) => JSON.stringify(parameters ?? []).includes('Idempotency-Key'))
        .map(([method]) => `${method} ${path}`),
    );
    expect([...keyedOperations].sort()).toEqual(taking.sort());
  });

  it('keep one key and one body for all attempts of a call', async () => {
    const { client, sent } = clientOf([503, 'broken', 'cut', 'in use', 429, 200]);
    const { value } = await settled(keyed(client));
    expect(value?.data).toEqual({ id: 'm' });
    const keys = new Set(sent.map(({ request }) => request.headers.get('Idempotency-Key')));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[A-Za-z0-9_-]{8,128}$/);
    expect(sent.map(({ body }) => body)).toEqual(Array(6).fill('{"delta":1}'));
    await settled(keyed(client));
    expect(sent.at(-1)?.request.headers.get('Idempotency-Key')).not.toBe([...keys][0]);
  });

  it("keep the caller's own key", async () => {
    const { client, sent } = clientOf(['broken', 200]);
    const params = { path: { id: 'm' }, header: { 'Idempotency-Key': 'receipt-20391' } };
    await settled(client.PATCH('/merchants/me/members/{id}/points', { params, body: { delta: 1 } }));
    expect(sent.map(({ request }) => request.headers.get('Idempotency-Key'))).toEqual(Array(2).fill('receipt-20391'));
  });

  it('never send a change without a key again unless it was counted out', async () => {
    const outcome = fc.constantFrom<Outcome>(200, 400, 404, 429, 500, 502, 503, 504, 'broken', 'cut', 'in use');
    await fc.assert(
      fc.asyncProperty(fc.array(outcome, { minLength: 1, maxLength: 8 }), async (outcomes) => {
        const { client, sent } = clientOf(outcomes);
        await settled(unkeyed(client));
        expect(outcomes.slice(0, sent.length - 1).every((each) => each === 429)).toBe(true);
        expect(sent[0]?.request.headers.has('Idempotency-Key')).toBe(false);
      }),
    );
  });

  it('end at the first answer that stays, and after the last try', async () => {
    const passing = ['broken', 'cut', 429, 502, 503, 504] as const;
    const outcome = fc.constantFrom<Outcome>(...passing, 200, 400, 500);
    await fc.assert(
      fc.asyncProperty(
        fc.array(outcome, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom(keyed, reading),
        async (outcomes, tries, make) => {
          const { client, sent } = clientOf(outcomes, { tries });
          const { value, error } = await settled<unknown>(make(client));
          const lasting = outcomes.findIndex((each) => !(passing as readonly Outcome[]).includes(each));
          expect(sent.length).toBe(lasting < 0 ? tries : Math.min(lasting + 1, tries));
          const last = outcomes[Math.min(sent.length, outcomes.length) - 1];
          if (last === 200) expect(value).toMatchObject({ data: { id: 'm' } });
          else
            expect(error).toMatchObject(typeof last === 'number' ? { status: last } : { status: 0, code: 'NETWORK' });
        },
      ),
    );
  });

  it('wait as long as the service asks, and give up at once when that is too long', async () => {
    const patient = clientOf([json(429, refusal('RATE_LIMITED'), { 'Retry-After': '7' }), 200]);
    await settled(reading(patient.client));
    const [first = 0, second = 0] = patient.sent.map((one) => one.at);
    expect(second - first).toBeGreaterThanOrEqual(7_000);
    const hurried = clientOf([json(429, refusal('RATE_LIMITED'), { 'Retry-After': '900' }), 200]);
    const { error } = await settled(reading(hurried.client));
    expect(error).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(hurried.sent).toHaveLength(1);
  });

  it('begin no attempt after the time that the caller gives', async () => {
    const { client, sent } = clientOf(['broken'], { tries: 1_000, withinMs: 20_000 });
    const startedAt = Date.now();
    const { error } = await settled(reading(client));
    expect(error).toMatchObject({ code: 'NETWORK' });
    expect(sent.length).toBeGreaterThan(3);
    expect((sent.at(-1)?.at ?? 0) - startedAt).toBeLessThanOrEqual(20_000);
  });

  it('count an attempt that hangs as failed', async () => {
    vi.useRealTimers();
    let attempts = 0;
    const client = createClient({
      baseUrl: 'https://cards.example.com',
      retry: { attemptMs: 20 },
      fetch({ signal }) {
        attempts += 1;
        if (attempts > 1) return Promise.resolve(answerOf(200));
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    await reading(client);
    expect(attempts).toBe(2);
  });

  it('end with the signal of the caller, also while they wait', async () => {
    const { client, sent } = clientOf([503]);
    const stop = new AbortController();
    const call = settled(client.GET('/merchants/me/members/{id}', { ...at, signal: stop.signal }));
    setTimeout(() => stop.abort(new Error('closed')), 100);
    expect((await call).error).toMatchObject({ message: 'closed' });
    expect(sent).toHaveLength(1);
    await vi.runAllTimersAsync();
    expect(sent).toHaveLength(1);
  });

  it('wait longer each time, up to eight seconds, never all at the same moment', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
        const most = Math.min(250 * 2 ** (attempt - 1), 8_000);
        expect(backoffMs(attempt, random)).toBeGreaterThanOrEqual(most / 2);
        expect(backoffMs(attempt, random)).toBeLessThanOrEqual(most);
      }),
    );
    expect(backoffMs(5, 0)).not.toBe(backoffMs(5, 1));
  });

  it('read Retry-After as seconds or as a date', () => {
    const now = Date.parse('2026-03-01T09:30:00Z');
    const read = (value?: string) =>
      retryAfterMs(new Headers(value === undefined ? {} : { 'Retry-After': value }), now);
    expect([read(), read('3'), read('0'), read('soon'), read('-1')]).toEqual([0, 3_000, 0, 0, 0]);
    expect(read('Sun, 01 Mar 2026 09:31:00 GMT')).toBe(60_000);
    expect(read('Sun, 01 Mar 2026 09:29:00 GMT')).toBe(0);
  });
});
