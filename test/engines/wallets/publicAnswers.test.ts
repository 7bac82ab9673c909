// Public requests are cheap: pages, pictures and health are read and rendered once for many requests, and a client with
// the current answer gets 304.
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let program: Program;
let card: string;

beforeAll(async () => {
  service = await startService({ worker: false });
  merchant = await aMerchant(service);
  program = await merchant.program();
  const member = await merchant.enroll({ programId: program._id, email: 'ada@example.com', firstName: 'Ada' });
  const row = await service.deps.collections.members.findOne({ _id: member.id });
  card = `/passes/${row?.pass.token}`;
});
afterAll(() => service.stop());

// Not with fetch, which adds a header that bypasses caches.
async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await request(service.publicUrl + path, { headers });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
}

/** How many queries of any collection the requests caused. */
async function queriesOf(work: () => Promise<unknown>): Promise<number> {
  const { programs, members, events } = service.deps.collections;
  // The driver's findOne calls find.
  const spies = [vi.spyOn(programs, 'find'), vi.spyOn(members, 'find'), vi.spyOn(events, 'find')];
  try {
    await work();
    return spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe.each([
  ['the picture of a program', () => `/wallet/images/${program._id}/logo.png`, 'public, max-age=300'],
  ['the enrollment page', () => `/enroll/${program.slug}`, 'private, max-age=10'],
  ['the web card', () => card, 'private, no-cache'],
  ['the state of the web card', () => `${card}.json`, 'private, no-cache'],
  ['the script of the web card', () => '/passes/card.js', 'public, max-age=300'],
  ['the OpenAPI document', () => '/api/v1/openapi.json', 'no-cache'],
])('%s', (_what, path, cacheControl) => {
  it('has the same ETag each time, and is not sent again to a client that has it', async () => {
    const first = await get(path());
    expect([first.status, first.headers['cache-control']]).toEqual([200, cacheControl]);
    expect(await get(path())).toMatchObject({ status: 200, body: first.body, headers: { etag: first.headers.etag } });
    const again = await get(path(), { 'If-None-Match': String(first.headers.etag) });
    expect([again.status, again.body, again.headers['cache-control']]).toEqual([304, '', cacheControl]);
  });
});

it('a changed balance changes the card and its ETag', async () => {
  const before = await get(card);
  const row = await service.deps.collections.members.findOne({ email: 'ada@example.com' });
  await merchant.call(`/merchants/me/members/${row?._id}/points`, { method: 'PATCH', body: { delta: 5 } });
  const after = await get(card, { 'If-None-Match': String(before.headers.etag) });
  expect([after.status, after.headers.etag === before.headers.etag]).toEqual([200, false]);
});

it('answers to forms and error pages are not cached', async () => {
  for (const path of ['/enroll/no-such-page', '/passes/no-such-card-0123456789'])
    expect((await get(path)).headers['cache-control']).toBe('no-store');
  const answer = await fetch(`${service.publicUrl}/enroll/${program.slug}`, {
    method: 'POST',
    body: new URLSearchParams({ email: 'wrong' }),
    redirect: 'manual',
  });
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([303, 'no-store']);
  const { status, headers } = await get(answer.headers.get('location') ?? '');
  expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
});

it.each([
  ['pictures', () => `/wallet/images/${program._id}/logo.png`],
  ['the enrollment page', () => `/enroll/${program.slug}`],
])('a hundred requests for %s query the program at most once a second', async (_what, path) => {
  const startedAt = performance.now();
  const queries = await queriesOf(async () => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.all(Array.from({ length: 10 }, () => get(path())));
  });
  expect(queries).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 1_000);
});

describe('/readyz', () => {
  const stranger = { 'X-Forwarded-For': '203.0.113.7' };

  it('gives operators on this machine the reasons', async () => {
    const { status, body } = await get('/readyz');
    expect([status, JSON.parse(body)]).toMatchObject([
      200,
      { checks: { mongodb: true }, unwritable: [], wallets: { apple: { mode: 'stub', reason: expect.any(String) } } },
    ]);
  });

  it.each([stranger, { Forwarded: 'for=203.0.113.7' }, { Via: '1.1 proxy' }])(
    'gives strangers behind a proxy (%j) only the status',
    async (headers) => {
      const { status, body } = await get('/readyz', headers);
      expect([status, Object.keys(JSON.parse(body))]).toEqual([200, ['status']]);
    },
  );

  it('queries MongoDB at most once a second for strangers', async () => {
    const startedAt = performance.now();
    const queries = await queriesOf(async () => {
      for (let turn = 0; turn < 10; turn += 1)
        await Promise.all(Array.from({ length: 10 }, () => get('/readyz', stranger)));
    });
    expect(queries).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 1_000);
  });
});
