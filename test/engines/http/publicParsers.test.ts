// Any input to routes without a credential, and to merchants' routes, is answered below 500, in time, and nothing is
// stored with replacement characters. The corpora are in test/corpora/SOURCES.md.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import naughty from '../../corpora/naughtyStrings.json' with { type: 'json' };
import { type Customer, startCustomers } from '../../rig/start/customers.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';

let real: RealWallets;
let slug: string;
let customer: Customer;
let stopCustomers: () => Promise<void>;

beforeAll(async () => {
  real = await startRealWallets();
  slug = (await real.merchant.program({ enrollment: { fields: ['firstName', 'lastName', 'phone'] } })).slug;
  const customers = await startCustomers(real);
  stopCustomers = customers.stop;
  customer = await customers.join();
});
afterAll(async () => {
  await real.stop();
  await stopCustomers();
});

interface Ask {
  method?: string;
  type?: string;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
}

async function ask(path: string, { method = 'POST', type = 'application/json', body, headers = {} }: Ask = {}) {
  const answer = await fetch(real.service.publicUrl + path, {
    method,
    redirect: 'manual',
    headers: { ...(body !== undefined && { 'Content-Type': type }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
  const text = await answer.text();
  expect(answer.status < 500, `${method} ${path} ${String(body).slice(0, 200)}: ${answer.status} ${text}`).toBe(true);
  expect(answer.headers.get('X-Request-Id')).toMatch(/^[A-Za-z0-9_-]{8,128}$/);
  return { status: answer.status, text };
}

const stored = (email: string) => real.service.deps.collections.members.findOne({ email });
const form = 'application/x-www-form-urlencoded';
const registrations = () =>
  `/wallet/apple/v1/devices/device-1/registrations/${real.certificates.passTypeId}/${customer.member.serialNumber}`;
const asPhone = () => ({ Authorization: `ApplePass ${customer.member.pass.authenticationToken}` });

/** Each public route with a body, with the body's shape. */
const routes = (): [path: string, shape: Record<string, unknown>, headers?: Record<string, string>][] => [
  [`/api/v1/enroll/${slug}/submit`, { email: 'a@example.com', firstName: 'A', lastName: 'B', phone: '+4930123' }],
  ['/api/v1/auth/sign-in-links', { email: 'a@example.com' }],
  ['/console/sign-in', { email: 'a@example.com' }],
  [`/enroll/${slug}`, { email: 'a@example.com', firstName: 'A', x7: '', utm_source: 'x' }],
  [registrations(), { pushToken: 'token' }, asPhone()],
  ['/wallet/apple/v1/log', { logs: ['a line'] }],
  [
    '/wallet/google/callback',
    {
      protocolVersion: 'ECv2SigningOnly',
      signature: 'MEQ=',
      intermediateSigningKey: { signedKey: '{}', signatures: ['MEQ='] },
      signedMessage: '{}',
    },
  ],
];

const oddValues = fc.oneof(
  fc.constantFrom<unknown>({ toString: 1 }, { length: -1 }, [[]], [{}], {}, [], null, true, 0, -1, 1e308, '', '\ud800'),
  fc.constantFrom(...naughty),
  fc.jsonValue(),
  fc.string({ unit: 'binary', maxLength: 300 }),
);

describe('a public route', () => {
  it('survives any value in each field, in JSON and in a form', async () => {
    for (const [path, shape, headers = {}] of routes()) {
      const fields = fc.constantFrom(...Object.keys(shape), '__proto__', 'constructor', 'toString', '', 'utm_x', 'ref');
      await fc.assert(
        fc.asyncProperty(fields, oddValues, async (field, value) => {
          const body = `${JSON.stringify(shape).slice(0, -1)},${JSON.stringify(field)}:${JSON.stringify(value)}}`;
          await ask(path, { body, headers });
          const text = typeof value === 'string' ? value : JSON.stringify(value);
          const sent = new URLSearchParams({ ...shape, [field]: text } as Record<string, string>).toString();
          await ask(path, { body: sent, type: form, headers });
        }),
        { numRuns: 60, seed: 20_261_123 },
      );
    }
  });

  it('survives any JSON and any bytes', async () => {
    const bodies = fc.oneof(
      fc.json().map((text): string | Uint8Array => text),
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom(
        '7',
        'null',
        '"x"',
        '[]',
        '',
        '{',
        '[{"a":',
        '{"email":{"toString":1}}',
        '\u0000',
        '%',
        '&&&=',
        'a[b][c]=d',
      ),
    );
    const types = fc.constantFrom('application/json', form, 'application/json; charset=latin1', 'text/plain', 'x', '');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...routes()), bodies, types, async ([path, , headers = {}], body, type) => {
        await ask(path, { body, type, headers });
      }),
      { numRuns: 300, seed: 20_261_123 },
    );
  });

  it('survives any path and query', async () => {
    const segment = fc.oneof(
      fc.constantFrom(...naughty.filter((text) => text.isWellFormed())).map(encodeURIComponent),
      fc.constantFrom('%00', '%FF', '%', '%E0%A4%A', '..', '.', '', '*', ';', '?', '[]', 'x'.repeat(4_000), '%2F%2F'),
      fc.webPath(),
    );
    const prefixes = [
      '',
      '/passes/',
      '/enroll/',
      '/console/sign-in/',
      '/wallet/images/',
      '/wallet/apple/v1/passes/',
      '/docs/',
      '/api/v1/',
      registrations(),
      '/healthz',
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...prefixes), segment, segment, async (prefix, one, other) => {
        const path = `${prefix}${one}/${other}`;
        await ask(path.startsWith('/') ? path : `/${path}`, { method: 'GET', headers: asPhone() });
        await ask(`${registrations().split('/').slice(0, -1).join('/')}?passesUpdatedSince=${one}`, { method: 'GET' });
      }),
      { numRuns: 200, seed: 20_261_123 },
    );
  });

  it('survives any header value', async () => {
    const values = fc.oneof(
      fc.string({ maxLength: 200 }).map((text) => text.replace(/[^\x20-\x7e]/g, '~')),
      fc.constantFrom(
        'Bearer',
        'Bearer ..',
        'ApiKey',
        'ApplePass',
        'session=;;=',
        '"',
        '%',
        '-1',
        '1e99',
        '0',
        'W/""',
        '*',
      ),
    );
    const names = fc.constantFrom(
      'Authorization',
      'X-API-Key',
      'Cookie',
      'traceparent',
      'X-Request-Id',
      'If-None-Match',
      'If-Modified-Since',
      'X-Forwarded-For',
      'Origin',
      'Accept',
      'Range',
      'Content-Encoding',
      'Idempotency-Key',
    );
    const paths = fc.constantFrom(
      '/api/v1/merchants/me/members',
      `/enroll/${slug}`,
      `/passes/${customer.member.pass.token}`,
      `/passes/${customer.member.pass.token}.pkpass`,
      registrations(),
      '/docs',
      '/readyz',
    );
    await fc.assert(
      fc.asyncProperty(names, values, paths, async (name, value, path) => {
        await ask(path, { method: 'GET', headers: { [name]: value } });
        await ask(path, { body: '{}', headers: { [name]: value } });
      }),
      { numRuns: 200, seed: 20_261_123 },
    );
  });
});

describe('text that is not UTF-8', () => {
  it('is refused by the public page and its endpoint, and nobody is enrolled', async () => {
    const latin = (text: string) => Buffer.from(text, 'latin1');
    const [email, page, submit] = [`${randomUUID()}@example.com`, `/enroll/${slug}`, `/api/v1/enroll/${slug}/submit`];
    const json = `{"email":"${email}","firstName":"Zo\xeb"}`;
    expect((await ask(submit, { body: latin(json) })).status).toBe(400);
    expect((await ask(submit, { body: latin(json), type: 'application/json; charset=iso-8859-1' })).status).toBe(415);
    for (const [path, ...statuses] of [
      [page, 303, 303, 303],
      [submit, 400, 400, 415],
    ] as const) {
      const bodies = [
        { body: `email=${email}&firstName=Zo%EB`, type: form },
        { body: latin(`email=${email}&firstName=Zo\xeb`), type: form },
        { body: `email=${email}`, type: `${form}; charset=iso-8859-1` },
      ];
      const answers = await Promise.all(bodies.map((body) => ask(path, body)));
      expect([path, ...answers.map(({ status }) => status)]).toEqual([path, ...statuses]);
    }
    expect(await stored(email)).toBeNull();
  });

  it('is refused as a query of the API', async () => {
    const { status, body } = await real.merchant.call('/merchants/me/members?q=Zo%EB');
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('is refused as a CSV file of another charset', async () => {
    const { status, body } = await real.merchant.call('/merchants/me/imports?programId=x', {
      body: 'email\nada@example.com\n',
      headers: { 'Content-Type': 'text/csv; charset=iso-8859-1' },
    });
    expect([status, body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('is refused in requests of phones', async () => {
    const lone = '"\\ud800"';
    expect((await ask(registrations(), { body: `{"pushToken":${lone}}`, headers: asPhone() })).status).toBe(400);
    expect((await ask('/wallet/apple/v1/log', { body: `{"logs":[${lone}]}` })).status).toBe(400);
  });
});

it('names of any script are stored and shown as they were sent', async () => {
  const names = naughty.map((text) => text.trim()).filter((text) => /^[^\p{C}\u2028\u2029]{1,100}$/u.test(text));
  expect(names.length).toBeGreaterThan(15);
  for (const firstName of names) {
    const email = `${randomUUID()}@example.com`;
    const { status } = await ask(`/enroll/${slug}`, {
      body: new URLSearchParams({ email, firstName }).toString(),
      type: form,
    });
    expect([firstName, status]).toEqual([firstName, 303]);
    const member = await stored(email);
    expect(member?.firstName).toBe(firstName);
    const card = await ask(`/passes/${member?.pass.token}`, { method: 'GET' });
    expect(card.text.includes('<script>alert')).toBe(false);
  }
});
