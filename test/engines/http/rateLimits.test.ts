// Rate limits (docs/interface.md#82-rate-limits): fixed windows by key, by user and by address, each with its own
// counter, and three headers with the caller's present limits.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merchants } from '../../../stack/commands/merchants.js';
import { pastCache } from '../../rig/checks/pastCache.js';
import { until } from '../../rig/checks/until.js';
import { type RedisServer, startRedisServer } from '../../rig/standins/redisServer.js';
import { runOn } from '../../rig/start/commandLine.js';
import { type Answer, addKey, aMerchant, type Call, outcome } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const small = { RATE_LIMIT_AUTHENTICATED: '5', RATE_LIMIT_PUBLIC: '4', RATE_LIMIT_WINDOW_MS: '60000' };
const start = (env: Record<string, string>) => startService({ worker: false, env });
const path = '/merchants/me/programs';

const counts = ({ headers }: Answer) => ['Limit', 'Remaining'].map((name) => Number(headers.get(`RateLimit-${name}`)));
async function readyz(
  service: TestService,
): Promise<{ status: number; body: { status: string; checks: { redis: boolean } } }> {
  const answer = await fetch(`${service.publicUrl}/readyz`);
  return { status: answer.status, body: (await answer.json()) as { status: string; checks: { redis: boolean } } };
}

async function repeat(times: number, call: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let index = 0; index < times; index += 1) answers.push(await call());
  return answers;
}

function expectLimited(answer: Answer, limit: number): void {
  expect(outcome(answer)).toEqual([429, 'RATE_LIMITED']);
  expect(counts(answer)).toEqual([limit, 0]);
  const reset = Number(answer.headers.get('RateLimit-Reset'));
  expect(Number.isInteger(reset) && reset >= 1 && reset <= 60).toBe(true);
  expect(answer.headers.get('Retry-After')).toBe(String(reset));
}

describe('a caller behind a trusted proxy', () => {
  let service: TestService;
  let addresses = 0;
  /** An address that no other test uses. */
  const from = (): Record<string, string> => {
    addresses += 1;
    return { 'X-Forwarded-For': `198.51.100.${addresses}` };
  };

  beforeAll(async () => {
    service = await start({ ...small, TRUST_PROXY: '1' });
  });
  afterAll(async () => {
    await service.stop();
  });

  it('with a key is counted by the key until the limit, and then refused', async () => {
    const merchant = await aMerchant(service);
    const answers = await repeat(5, () => merchant.call(path, { headers: from() }));
    expect(answers.map(counts)).toEqual([
      [5, 4],
      [5, 3],
      [5, 2],
      [5, 1],
      [5, 0],
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200]);
    for (const answer of await repeat(3, () => merchant.call(path, { headers: from() }))) expectLimited(answer, 5);
  });

  it.each([8, 2])('has the limit of %i that the operator gave its merchant, until it is taken back', async (most) => {
    const [merchant, other] = [await aMerchant(service), await aMerchant(service)];
    const operator = (line: string) => runOn(service, merchants, line.split(' '));
    await operator(`limit ${merchant.id} --requests ${most}`);
    await pastCache();
    const answers = await repeat(most, () => merchant.call(path));
    expect(answers.map(counts)).toEqual(answers.map((_, index) => [most, most - 1 - index]));
    expectLimited(await merchant.call(path), most);
    expect(counts(await other.call(path))).toEqual([5, 4]);
    await operator(`limit ${merchant.id} --requests default`);
    await pastCache();
    expect(counts(await merchant.call(path))).toEqual([5, Math.max(5 - most - 2, 0)]);
  });

  it('has the same counter in both header forms, and a counter for each key', async () => {
    const merchant = await aMerchant(service);
    const other = await addKey(service.deps, { merchantId: merchant.id, roleIds: ['integration'] });
    await repeat(4, () => merchant.call(path));
    await merchant.call(path, { credential: { Authorization: `ApiKey ${merchant.apiKey}` } });
    expectLimited(await merchant.call(path), 5);
    expect(outcome(await merchant.call(path, { credential: { 'X-API-Key': other } }))).toEqual([200, 'ok']);
  });

  it('with a token is counted by user, for all tokens and cookies of that user', async () => {
    const merchant = await aMerchant(service);
    const call = async (sub: string): Promise<Call> => ({
      credential: { Authorization: `Bearer ${await merchant.token({ sub })}` },
    });
    for (let index = 0; index < 4; index += 1) await merchant.call(path, await call('anna'));
    const cookie = { credential: { Cookie: `session=${await merchant.token({ sub: 'anna' })}` } };
    expect(counts(await merchant.call(path, cookie))).toEqual([5, 0]);
    expectLimited(await merchant.call(path, await call('anna')), 5);
    expect(outcome(await merchant.call(path, await call('ben')))).toEqual([200, 'ok']);
    expect(outcome(await merchant.call(path))).toEqual([200, 'ok']);
  });

  it('is also counted for refused requests and 404s', async () => {
    const merchant = await aMerchant(service, { roleIds: ['viewer'] });
    const answers = [
      await merchant.call('/merchants/me/members/x'),
      await merchant.call('/merchants/me/members?page=0'),
      await merchant.call('/merchants/me/members', { body: { programId: 'x' } }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([404, 400, 403]);
    expect(answers.map(counts)).toEqual([
      [5, 4],
      [5, 3],
      [5, 2],
    ]);
  });

  it('without a valid credential is counted by address and refused at the limit', async () => {
    const merchant = await aMerchant(service);
    const headers = from();
    const bad = [
      null,
      { 'X-API-Key': 'rubbish' },
      { Authorization: 'Bearer rubbish' },
      { 'X-API-Key': `lps_${'A'.repeat(43)}` },
    ];
    const answers = await Promise.all(bad.map((credential) => merchant.call(path, { credential, headers })));
    expect(answers.map((answer) => answer.status)).toEqual([401, 401, 401, 401]);
    expect(answers.map((answer) => counts(answer)[1]).sort()).toEqual([0, 1, 2, 3]);
    expectLimited(await merchant.call(path, { credential: null, headers }), 4);
    expectLimited(await merchant.call(path, { credential: { 'X-API-Key': 'rubbish' }, headers }), 4);
    expect(outcome(await merchant.call(path, { credential: null, headers: from() }))).toEqual([
      401,
      'AUTHENTICATION_REQUIRED',
    ]);
  });

  it('with a valid key works while its address is limited', async () => {
    const merchant = await aMerchant(service);
    const headers = from();
    await repeat(5, () => merchant.call(path, { credential: null, headers }));
    expectLimited(await merchant.call(path, { credential: null, headers }), 4);
    expect(outcome(await merchant.call(path, { headers }))).toEqual([200, 'ok']);
  });

  it('has separate counters for unknown routes and for failed credentials', async () => {
    const merchant = await aMerchant(service);
    const headers = from();
    const unknown = await repeat(4, () => merchant.call('/nope', { headers }));
    expect(unknown.map((answer) => answer.status)).toEqual([404, 404, 404, 404]);
    expect(unknown.map(counts).at(-1)).toEqual([4, 0]);
    expectLimited(await merchant.call('/nope', { headers }), 4);
    expect(outcome(await merchant.call(path, { credential: null, headers }))).toEqual([401, 'AUTHENTICATION_REQUIRED']);
  });

  it('is identified by the address that the proxy saw, not by its own X-Forwarded-For', async () => {
    const merchant = await aMerchant(service);
    const call = (forwarded: string) =>
      merchant.call(path, { credential: null, headers: { 'X-Forwarded-For': forwarded } });
    await repeat(4, () => call('203.0.113.50'));
    expectLimited(await call('203.0.113.50'), 4);
    expectLimited(await call('1.2.3.4, 203.0.113.50'), 4);
    expect((await call('203.0.113.50, 203.0.113.51')).status).toBe(401);
  });

  it('with IPv6 is identified by its /64', async () => {
    const merchant = await aMerchant(service);
    const call = (address: string) =>
      merchant.call(path, { credential: null, headers: { 'X-Forwarded-For': address } });
    for (const last of [1, 2, 3, 4]) await call(`2001:db8:7:7::${last}`);
    expectLimited(await call('2001:db8:7:7:ffff::1'), 4);
    expect((await call('2001:db8:7:8::1')).status).toBe(401);
  });

  it('is identified by its address however the proxy writes it, and counts as one caller without an address', async () => {
    const merchant = await aMerchant(service);
    const call = (address: string) =>
      merchant.call(path, { credential: null, headers: { 'X-Forwarded-For': address } });
    const callers = [
      ['203.0.113.60:50001', '[203.0.113.60]:50002', '::ffff:203.0.113.60', '203.0.113.60', '203.0.113.60:50003'],
      ['[2001:db8:60::1]:443', '2001:0DB8:60:0::2', '2001:db8:60::3%eth0', '2001:db8:60::4', '[2001:db8:60::5]'],
      ['unknown', '_hidden', '203.0.113.600', 'nobody', '203.0.113.60.1:80'],
    ];
    for (const spellings of callers) {
      for (const spelling of spellings.slice(0, 4)) expect((await call(spelling)).status).toBe(401);
      expectLimited(await call(spellings[4] ?? ''), 4);
    }
  });

  it('with a key for some networks is let in however the proxy writes its address', async () => {
    const merchant = await aMerchant(service);
    const { body } = await merchant.call('/auth/api-keys', {
      body: { name: 'Till', roleIds: ['integration'], allowedNetworks: ['203.0.113.0/24', '2001:db8:5::/48'] },
      credential: { Authorization: `Bearer ${await merchant.token()}` },
    });
    const call = async (address: string) => {
      const headers = { 'X-Forwarded-For': address };
      return (await merchant.call(path, { credential: { 'X-API-Key': body.data.key }, headers })).status;
    };
    for (const inside of ['203.0.113.7:51234', '[2001:db8:5::1]:443', '::ffff:cb00:7107', '2001:DB8:5:0::9%2'])
      expect([inside, await call(inside)]).toEqual([inside, 200]);
    for (const outside of ['203.0.114.7:51234', '[2001:db8:6::1]:443', '::ffff:203.0.114.8'])
      expect([outside, await call(outside)]).toEqual([outside, 403]);
  });

  it('is not counted for health and documents', async () => {
    const merchant = await aMerchant(service);
    for (const open of ['/healthz', '/readyz', '/api/v1/openapi.json']) {
      const answers = await repeat(6, () =>
        merchant.call(`${service.publicUrl}${open}`, { credential: null, headers: from() }),
      );
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
      expect(answers[0]?.headers.get('RateLimit-Limit')).toBeNull();
    }
  });
});

describe('the sender of a public form', () => {
  let service: TestService;
  let slug: string;
  let addresses = 0;

  beforeAll(async () => {
    service = await start({ ...small, WALLET_CALLS_PER_ADDRESS: '4', TRUST_PROXY: '1' });
    slug = (await (await aMerchant(service)).program({ enrollment: { consentText: 'I agree.' } })).slug;
  });
  afterAll(async () => {
    await service.stop();
  });

  const link = `/console/sign-in/${'a'.repeat(32)}`;
  it.each([
    ['the page to join, with a wrong address', () => `/enroll/${slug}`, 'email=nobody', 303],
    ['the page to join, without consent', () => `/enroll/${slug}`, 'email=ada@example.com', 303],
    ['the page to join, as a machine does', () => `/enroll/${slug}`, 'email=ada@example.com&x7=spam', 303],
    ['the page to join, in no encoding', () => `/enroll/${slug}`, 'email=%ff', 303],
    ['the page to join a program that is not there', () => '/enroll/no-such-program', 'email=ada@example.com', 303],
    ['the endpoint to join, with a wrong address', () => `/api/v1/enroll/${slug}/submit`, 'email=nobody', 400],
    ['the button of a link that does not work', () => link, '', 410],
    ['the page to sign in, with a wrong address', () => '/console/sign-in', 'email=nobody', 400],
    ['the endpoint to sign in, with a wrong address', () => '/api/v1/auth/sign-in-links', '{"email":"nobody"}', 400],
    ['a link that does not work', () => link, undefined, 410],
  ])('at %s, is refused beyond the limit of the address', async (_what, pathOf, body, status) => {
    addresses += 1;
    const type = body?.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded';
    const from = { 'X-Forwarded-For': `192.0.2.${addresses}` };
    const send = () =>
      fetch(service.publicUrl + pathOf(), {
        redirect: 'manual',
        ...(body === undefined
          ? { headers: from }
          : { method: 'POST', headers: { ...from, 'Content-Type': type }, body }),
      });
    for (let times = 0; times < 4; times += 1) expect((await send()).status).toBe(status);
    const refused = await send();
    const isForm = pathOf() === `/enroll/${slug}`;
    expect([refused.status, Number(refused.headers.get('Retry-After')) > 0]).toEqual([isForm ? 303 : 429, true]);
  });
});

describe('without a trusted proxy', () => {
  it('X-Forwarded-For is ignored', async () => {
    const service = await start(small);
    try {
      const merchant = await aMerchant(service);
      const call = (address: string) =>
        merchant.call(path, { credential: null, headers: { 'X-Forwarded-For': address } });
      for (const last of [1, 2, 3, 4]) expect((await call(`198.51.100.${last}`)).status).toBe(401);
      expectLimited(await call('198.51.100.5'), 4);
    } finally {
      await service.stop();
    }
  });
});

describe('a public program', () => {
  it('accepts a hundred times the limit of one address, from all addresses together', async () => {
    const env = { RATE_LIMIT_PUBLIC: '1', TRUST_PROXY: '1', CHANGE_WORKFLOWS_PER_SECOND: '0' };
    const service = await start({ ...small, ...env });
    try {
      const merchant = await aMerchant(service);
      const [one, other] = [await merchant.program(), await merchant.program()];
      const join = (slug: string, from: number) =>
        merchant.call(`/enroll/${slug}/submit`, {
          body: { email: `person${from}@example.com` },
          headers: { 'X-Forwarded-For': `198.51.${Math.floor(from / 250)}.${from % 250}` },
          credential: null,
        });
      const answers = await Promise.all(Array.from({ length: 103 }, (_, index) => join(one.slug, index)));
      const refused = answers.filter(({ status }) => status !== 201);
      expect(refused).toHaveLength(3);
      for (const answer of refused) expectLimited(answer, 100);
      expect((await join(other.slug, 200)).status).toBe(201);
    } finally {
      await service.stop();
    }
  });
});

describe('the window', () => {
  it('ends when the header said', async () => {
    const service = await start({ ...small, RATE_LIMIT_WINDOW_MS: '1500' });
    try {
      const merchant = await aMerchant(service);
      // The six calls may span two windows; then the next window is tested.
      const refused = await until(async () => {
        const answer = await merchant.call(path);
        return answer.status === 429 && answer;
      });
      const reset = Number(refused.headers.get('RateLimit-Reset'));
      await new Promise((resolve) => setTimeout(resolve, reset * 1_000));
      expect(counts(await merchant.call(path))).toEqual([5, 4]);
    } finally {
      await service.stop();
    }
  });
});

describe('with Redis', () => {
  let redis: RedisServer;
  let services: TestService[];

  beforeAll(async () => {
    redis = await startRedisServer();
    const env = { ...small, REDIS_URL: redis.url };
    services = await Promise.all([start(env), start(env)]);
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await redis.close().catch(() => {});
  });

  it('processes share counters; while Redis is unavailable each counts alone; they reconnect by themselves', async () => {
    const [one, other] = services;
    if (!one || !other) throw new Error('Two services were started.');
    const [merchant, beside] = [await aMerchant(one), await aMerchant(other)];
    const key = { 'X-API-Key': merchant.apiKey };
    // The second service has its own database, in which the key must exist too.
    const row = await one.deps.collections.apiKeys.findOne({ merchantId: merchant.id });
    if (row) await other.deps.collections.apiKeys.insertOne(row);
    const bothKnowRedis = async () => {
      for (const service of [one, other]) await until(async () => (await readyz(service)).body.checks.redis);
    };
    await bothKnowRedis();
    expect(counts(await merchant.call(path))).toEqual([5, 4]);
    expect(counts(await beside.call(path, { credential: key }))).toEqual([5, 3]);
    expect(counts(await merchant.call(path))).toEqual([5, 2]);

    const { port } = redis;
    await redis.close();
    const alone = await repeat(2, () => merchant.call(path));
    const health = await readyz(one);
    redis = await startRedisServer({ port });
    expect(alone.map((answer) => answer.status)).toEqual([200, 200]);
    expect(alone.map(counts)).toEqual([
      [5, 4],
      [5, 3],
    ]);
    expect(health).toMatchObject({ status: 200, body: { status: 'degraded', checks: { redis: false } } });

    await bothKnowRedis();
    expect(counts(await merchant.call(path))).toEqual([5, 4]);
    expect(counts(await beside.call(path, { credential: key }))).toEqual([5, 3]);
  });
});
