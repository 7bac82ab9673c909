// Malicious and meaningless input gets a 4xx with a code, never a 5xx, and changes nothing. The corpus is sent to every
// route of the endpoint table that takes such input; fast-check generates random input.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../schemas/access/endpoint.schema.js';
import { builtInRoles } from '../../../schemas/access/permissions.schema.js';
import { endpoints } from '../../../schemas/tables/endpoints.js';
import { type Answer, aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let member: { id: string; programId: string; memberCode: string };
let hookId: string;
let console_: Record<string, string>;

beforeAll(async () => {
  service = await startService({ worker: false });
  merchant = await aMerchant(service);
  member = await merchant.enroll({ firstName: 'Ada', email: 'ada@example.com', initialPoints: 500 });
  const hook = await merchant.call('/merchants/me/webhooks', { body: { url: 'http://127.0.0.1:9/x', events: ['*'] } });
  hookId = hook.body.data.id;
  console_ = { Authorization: `Bearer ${await merchant.token()}` };
});

afterAll(async () => {
  await service.stop();
});

const table: [string, Endpoint][] = Object.entries(endpoints);
const withBody = table.filter(([, { body, form }]) => body && !form);
const withQuery = table.filter(([, { query, upload }]) => query && !upload);

function urlOf({ path }: Endpoint): string {
  const ids: Record<string, string> = { members: member.id, webhooks: hookId };
  const segments = path.split('/');
  return segments
    .map((part, index) => (part.startsWith(':') ? (ids[segments[index - 1] ?? ''] ?? 'none') : part))
    .join('/');
}

/** The session of the owner, for endpoints that refuse API keys. */
const credentialOf = ({ session, access }: Endpoint) => {
  const admitted: readonly string[] = ['public', ...(builtInRoles.integration ?? [])];
  return session || !admitted.includes(access) ? { credential: console_ } : {};
};

/** All data of the merchant that a request could change. */
async function stateOf(): Promise<unknown> {
  const { members, ledger, subscriptions, apiKeys, events, idempotencyKeys, batches } = service.deps.collections;
  const where = { merchantId: merchant.id };
  return Promise.all([
    members.find(where, { projection: { pass: 0 } }).toArray(),
    ledger.countDocuments(where),
    subscriptions.find(where, { projection: { health: 0 } }).toArray(),
    apiKeys.countDocuments(where),
    events.countDocuments({ ...where, type: { $ne: 'pass.created' } }),
    idempotencyKeys.countDocuments(where),
    batches.countDocuments(where),
  ]);
}

function expectRefused(answer: Answer, what: string): void {
  const shown = `${what} was answered ${answer.status} ${answer.text.slice(0, 200)}`;
  expect(answer.status >= 400 && answer.status < 500, shown).toBe(true);
  expect(answer.body?.success, shown).toBe(false);
  expect(answer.body?.error?.code, shown).toMatch(/^[A-Z][A-Z_]+$/);
  expect(answer.text, shown).not.toMatch(/mongo|\$\w+ (is|must)|at \w+ \(|node_modules|ECONN|SyntaxError|zod/i);
}

const operators = [
  { $ne: null },
  { $gt: '' },
  { $where: 'sleep(1000)' },
  { $regex: '.*' },
  { $in: [1] },
  { $expr: { $eq: [1, 1] } },
];
const wrongTypes = [null, true, 7, 'text', [], {}, [[]], [null], ...operators];
const brokenText = [
  '\u0000',
  'a\u0000b',
  'a\nb',
  '\ttab',
  'a\u001b[31m',
  'a\u007f',
  'a\u0085',
  'a\u2028b',
  '\ud800',
  'a\udfffb',
  'end\ud83d',
];
const numbers = [
  '1.5',
  '-0.5',
  '1e400',
  '-1e400',
  '9007199254740993',
  '1e21',
  '1000000001',
  '-1000000001',
  '"5"',
  '[5]',
  '{"$numberLong":"5"}',
  'true',
  'null',
];

const raw = (text: string, method: string, endpoint?: Endpoint) => ({
  method,
  body: text,
  headers: { 'Content-Type': 'application/json' },
  ...(endpoint && credentialOf(endpoint)),
});

/** Fields that accept these values: a new program may have any id, and a draft in a preview any content. */
const allowed: Record<string, string[]> = { createProgram: ['_id'], previewProgram: ['program'] };

describe.each(withBody)('the body of %s', (name, endpoint) => {
  const isForbidden = (field: string) => !allowed[name]?.includes(field);
  const method = endpoint.method.toUpperCase();
  const example = (endpoint.example ?? {}) as Record<string, unknown>;
  const send = (text: string) => merchant.call(urlOf(endpoint), raw(text, method, endpoint));

  it('is refused when it has another type or contains forbidden values', async () => {
    const before = await stateOf();
    const bodies = [
      ...(endpoint.bodyOptional ? [] : ['{}']),
      ...['null', '[]', '7', '"text"', 'true', '[{}]', '{', '{"a":', '\u0000'],
      ...Object.keys(example)
        .filter(isForbidden)
        .flatMap((field) => operators.map((operator) => JSON.stringify({ ...example, [field]: operator }))),
      ...['$set', '$where', 'constructor', 'toString', 'hasOwnProperty', 'a.b', '', 'merchantId', '_id', 'version']
        .filter(isForbidden)
        .map((field) => JSON.stringify({ ...example, [field]: 'x' })),
      `${JSON.stringify(example).slice(0, -1)}${Object.keys(example).length > 0 ? ',' : ''}"__proto__":{"isAdmin":true}}`,
      `{"constructor":{"prototype":{"isAdmin":true}}}`,
      `${'['.repeat(40_000)}${']'.repeat(40_000)}`,
      `${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}`,
    ];
    for (const body of bodies) expectRefused(await send(body), body.slice(0, 120));
    expect(await stateOf()).toEqual(before);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  it('is refused when it contains text that no screen can show', async () => {
    const before = await stateOf();
    const texts = Object.entries(example).flatMap(([field, value]) => {
      if (typeof value === 'string') return brokenText.map((text) => ({ ...example, [field]: `${value}${text}` }));
      if (Array.isArray(value)) return brokenText.map((text) => ({ ...example, [field]: [`${value[0]}${text}`] }));
      return [];
    });
    for (const body of texts) expectRefused(await send(JSON.stringify(body)), JSON.stringify(body));
    expect(await stateOf()).toEqual(before);
  });

  it('is refused when random values are added to its fields or replace them', async () => {
    const before = await stateOf();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(example), 'unknown'),
        fc.oneof(fc.constantFrom(...wrongTypes), fc.jsonValue(), fc.string({ unit: 'binary' })),
        async (field, value) => {
          const body = { ...example, [field]: value };
          fc.pre(field === 'unknown' || !endpoint.body?.safeParse(body).success);
          expectRefused(await send(JSON.stringify(body)), JSON.stringify(body));
        },
      ),
      { numRuns: 15, seed: 20_261_121 },
    );
    expect(await stateOf()).toEqual(before);
  });
});

describe.each(withQuery)('the query of %s', (_name, endpoint) => {
  const send = (query: string) =>
    merchant.call(`${urlOf(endpoint)}?${query}`, { method: endpoint.method.toUpperCase(), ...credentialOf(endpoint) });

  it('is refused with operators, repeated or unknown parameters and invalid numbers', async () => {
    const known = [
      'page',
      'pageSize',
      'limit',
      'programId',
      'q',
      'serial',
      'enabled',
      'subscriptionId',
      'eventType',
      'success',
      'after',
      'types',
      'kind',
    ];
    const names = known.filter(
      (name) =>
        !/is not a known|Unrecognized/.test(
          JSON.stringify(endpoint.query?.safeParse({ [name]: '\u0000' }).error?.issues ?? []),
        ),
    );
    const queries = [
      '$where=1',
      '__proto__=x',
      'constructor=x',
      'toString=x',
      'unknown=',
      '=x',
      ...names.flatMap((name) => [
        `${name}[$ne]=x`,
        `${name}[]=x`,
        `${name}=x&${name}=y`,
        `${name}=%00`,
        `${name}=a%0Ab`,
        ...(['page', 'pageSize', 'limit'].includes(name)
          ? ['0', '-1', '1.5', '1e3', '0x10', 'NaN', 'Infinity', '', '%20', '9'.repeat(40), '१'].map(
              (value) => `${name}=${value}`,
            )
          : []),
        ...(['enabled', 'success'].includes(name) ? ['1', 'yes', '', 'TRUE'].map((value) => `${name}=${value}`) : []),
      ]),
    ];
    for (const query of queries) expectRefused(await send(query), query);
  });

  it('of 10 kB is refused or finds nothing, without delay', async () => {
    const startedAt = performance.now();
    for (const value of ['a'.repeat(10_000), 'a+'.repeat(5_000), '%F0%9F%98%80'.repeat(800)]) {
      for (const name of ['q', 'serial', 'programId'])
        expectRefused(await send(`${name}=${value}`), `${name} of 10 kB`);
    }
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });
});

describe('a search', () => {
  const find = (name: string, value: string) =>
    merchant.call(`/merchants/me/members?${name}=${encodeURIComponent(value)}`);

  it('takes patterns and operators for the words in them, and for nothing without a word', async () => {
    const found = async (name: string, value: string) => (await find(name, value)).body.data.items.length;
    for (const text of [
      '.*',
      '^a',
      'a|b',
      '*',
      '%',
      '_',
      '$ne',
      '{"$gt":""}',
      "' OR 1=1 --",
      '\\',
      '[a-z]',
      '(ada',
      'x)',
    ]) {
      expect([await found('serial', text), await found('programId', text)], text).toEqual([0, 0]);
      const words = text.replace(/[^a-z\d]+/gi, ' ').trim();
      expect(await found('q', text), text).toBe(words === '' ? 0 : await found('q', words));
    }
  });

  it('answers a search for an invisible character', async () => {
    expect((await find('q', '\u200b')).status).toBe(200);
  });

  it('answers any text with 200 or 400', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('q', 'serial', 'programId'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
        async (name, value) => {
          fc.pre(value.isWellFormed());
          expect([200, 400]).toContain((await find(name, value)).status);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('points', () => {
  const send = (text: string, headers: Record<string, string> = {}) =>
    merchant.call(`/merchants/me/members/${member.id}/points`, {
      method: 'PATCH',
      body: text,
      headers: { 'Content-Type': 'application/json', ...headers },
    });

  it('refuse invalid numbers as delta and as value', async () => {
    const before = await stateOf();
    for (const number of numbers)
      for (const field of ['delta', 'value']) expectRefused(await send(`{"${field}":${number}}`), `${field} ${number}`);
    expectRefused(await send('{"value":-1}'), 'a value below nothing');
    expectRefused(await send('{"value":-0.0000001}'), 'a value just below nothing');
    expect(await stateOf()).toEqual(before);
  });

  it('require exactly one of delta and value', async () => {
    const before = await stateOf();
    for (const body of [
      '{}',
      '{"delta":1,"value":1}',
      '{"delta":null,"value":1}',
      '{"delta":1,"value":null}',
      '{"changeMessage":"x"}',
    ])
      expectRefused(await send(body), body);
    expect(await stateOf()).toEqual(before);
  });

  it('refuse a message of 201 characters', async () => {
    const before = await stateOf();
    expectRefused(await send(JSON.stringify({ delta: 1, changeMessage: 'x'.repeat(201) })), '201 characters');
    expect(await stateOf()).toEqual(before);
  });

  it.each([
    'k'.repeat(7),
    'k'.repeat(129),
    'key with space',
    'a:b:c:d:e',
    '../../../etc',
    '{"$ne":1}',
    'k'.repeat(8_000),
  ])('refuse a key like %s', async (key) => {
    const before = await stateOf();
    const answer = await send('{"delta":1}', { 'Idempotency-Key': key });
    expectRefused(answer, key);
    expect(answer.body.error.code).toBe('IDEMPOTENCY_KEY_MALFORMED');
    expect(await stateOf()).toEqual(before);
  });

  it('the last of two fields with the same name counts, as in other JSON parsers', async () => {
    const own = await merchant.enroll({ initialPoints: 5 });
    const answer = await merchant.call(
      `/merchants/me/members/${own.id}/points`,
      raw('{"delta":100,"delta":1}', 'PATCH'),
    );
    expect(answer.body.data).toMatchObject({ previous: 5, current: 6 });
  });
});

describe('a path', () => {
  const ids = [
    '%00',
    '%0A',
    '%2e%2e%2f',
    '$ne',
    '[object%20Object]',
    '%7B%22$ne%22:null%7D',
    '%E0%A4%A',
    '%FF',
    '%',
    'null',
    'undefined',
    '__proto__',
    'constructor',
    'a'.repeat(3_000),
  ];

  it.each(table.filter(([, { path, access }]) => path.includes(':') && access !== 'public'))(
    'of %s refuses invalid ids',
    async (_name, endpoint) => {
      const before = await stateOf();
      for (const id of ids) {
        const path = endpoint.path.replace(/:\w+/, id);
        const body = endpoint.body ? { body: endpoint.example ?? {} } : {};
        const answer = await merchant.call(path, {
          method: endpoint.method.toUpperCase(),
          ...body,
          ...credentialOf(endpoint),
        });
        expectRefused(answer, path.slice(0, 100));
        expect(answer.status).toBe(404);
      }
      expect(await stateOf()).toEqual(before);
    },
  );
});

it('the service still answers as before', async () => {
  const answer = await merchant.call(`/merchants/me/members/${member.id}`);
  expect(answer.body.data).toMatchObject({ firstName: 'Ada', fieldValues: { points: 500 }, status: 'active' });
});
