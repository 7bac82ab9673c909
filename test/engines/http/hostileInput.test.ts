// Malicious and meaningless input gets a 4xx with a code, never a 5xx, and changes nothing. The guard of every route gets
// all bodies and queries in test/unit/http/hostileInput.test.ts; here every route of the whole service gets some of them,
// some of the ids, and all that only a handler can refuse.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../schemas/access/endpoint.schema.js';
import { builtInRoles } from '../../../schemas/access/permissions.schema.js';
import {
  brokenBodies,
  expectRefusal,
  forbiddenBodies,
  hasShape,
  queryNames,
  table,
  withBody,
  withQuery,
} from '../../rig/checks/hostileInput.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let member: { id: string; programId: string; memberCode: string };
let hookId: string;
let console_: Record<string, string>;

beforeAll(async () => {
  service = await startService({ worker: false });
  merchant = await aMerchant(service);
  member = await merchant.enroll({ firstName: 'Ada', lastName: 'Byron', email: 'ada@example.com', initialPoints: 500 });
  const hook = await merchant.call('/merchants/me/webhooks', { body: { url: 'http://127.0.0.1:9/x', events: ['*'] } });
  hookId = hook.body.data.id;
  console_ = { Authorization: `Bearer ${await merchant.token()}` };
});

afterAll(async () => {
  await service.stop();
});

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

describe.each(withBody)('the body of %s', (name, endpoint) => {
  it('is refused by the route when it has a wrong shape, and by its handler when a value of it is forbidden', async () => {
    const before = await stateOf();
    const forbidden = forbiddenBodies(name, endpoint);
    const ofHandler = forbidden.filter((body) => hasShape(endpoint, body));
    const ofGuard = forbidden.filter((body) => !hasShape(endpoint, body));
    const broken = brokenBodies(endpoint);
    const some = [ofGuard.find((body) => body.includes('$')), ofGuard.find((body) => body.includes('__proto__'))];
    const bodies = [...ofHandler, ...some, '{', broken.at(-1)].filter((body) => body !== undefined);
    for (const body of bodies)
      expectRefusal(
        await merchant.call(urlOf(endpoint), raw(body, endpoint.method.toUpperCase(), endpoint)),
        body.slice(0, 120),
      );
    expect(await stateOf()).toEqual(before);
  });
});

describe.each(withQuery)('the query of %s', (_name, endpoint) => {
  it('is refused by the route with an operator, a repeated parameter, an invisible character and of 10 kB', async () => {
    const method = endpoint.method.toUpperCase();
    const [known = 'q'] = queryNames(endpoint);
    for (const query of ['$where=1', `${known}=x&${known}=y`, `${known}=%00`, `q=${'a+'.repeat(5_000)}`]) {
      const answer = await merchant.call(`${urlOf(endpoint)}?${query}`, { method, ...credentialOf(endpoint) });
      expectRefusal(answer, query.slice(0, 100));
    }
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
      // Parts of one letter are not searched one by one, and the member's code may begin with any letter.
      'ad|by',
      '*',
      '%',
      '_',
      '$ne',
      '{"$gt":""}',
      "' OR 1=1 --",
      '\\',
      '[ad-by]',
      '(ada',
      'x)',
    ]) {
      expect([await found('serial', text), await found('programId', text)], text).toEqual([0, 0]);
      const words = text.replace(/[^a-z\d]+/gi, ' ').trim();
      expect(await found('q', text), text).toBe(words === '' ? 0 : await found('q', words));
    }
    expect(await found('q', 'ad|by')).toBe(1);
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
      for (const field of ['delta', 'value']) expectRefusal(await send(`{"${field}":${number}}`), `${field} ${number}`);
    expectRefusal(await send('{"value":-1}'), 'a value below nothing');
    expectRefusal(await send('{"value":-0.0000001}'), 'a value just below nothing');
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
      expectRefusal(await send(body), body);
    expect(await stateOf()).toEqual(before);
  });

  it('refuse a message of 201 characters', async () => {
    const before = await stateOf();
    expectRefusal(await send(JSON.stringify({ delta: 1, changeMessage: 'x'.repeat(201) })), '201 characters');
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
    expectRefusal(answer, key);
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

  /** Four of them for each route: each id goes to every third route or so. */
  const idsOf = (index: number) => [0, 1, 2, 3].map((step) => ids[(4 * index + step) % ids.length] ?? '%00');

  const withId = table.filter(([, { path, access }]) => path.includes(':') && access !== 'public');
  it.each(withId.map(([name, endpoint], index) => [name, endpoint, idsOf(index)] as const))(
    'of %s refuses invalid ids',
    async (_name, endpoint, some) => {
      const before = await stateOf();
      for (const id of some) {
        const path = endpoint.path.replace(/:\w+/, id);
        const body = endpoint.body ? { body: endpoint.example ?? {} } : {};
        const answer = await merchant.call(path, {
          method: endpoint.method.toUpperCase(),
          ...body,
          ...credentialOf(endpoint),
        });
        expectRefusal(answer, path.slice(0, 100));
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
