// Authentication (docs/interface.md#5-authentication): both header forms, console tokens by shared secret and by JWKS,
// cookies with their CSRF rule, and known forgeries.
import { createHmac } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUserTokens } from '../../../api/http/userTokens.client.js';
import type { Config } from '../../../schemas/shared/config.schema.js';
import { type ConsoleKey, type JwksServer, startJwksServer } from '../../rig/standins/jwksServer.js';
import { type Answer, addKey, aMerchant, type Call, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { jwtSecret, startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: false });
  merchant = await aMerchant(service);
});

afterAll(async () => {
  await service.stop();
});

const programs = (headers: Record<string, string>, by = merchant): Promise<Answer> =>
  by.call('/merchants/me/programs', { credential: headers });
const unknownKey = `lps_${'A'.repeat(43)}`;

describe('a second console secret', () => {
  it('keeps sessions valid while the console moves to the new one, and ends them when it is removed', async () => {
    const [previous, now] = ['the-console-secret-of-last-year-000000', 'the-console-secret-of-this-year-000000'];
    const signed = (secret: string) =>
      new SignJWT({ sub: 'user-1', merchantId: merchant.id, roleIds: ['owner'] })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer('loyalty-console')
        .setAudience('loyalty-pass-service')
        .setExpirationTime('1h')
        .sign(new TextEncoder().encode(secret));
    const { deps } = service;
    const verified = async (secrets: Partial<Config>, secret: string) =>
      createUserTokens({ config: { ...deps.config, ...secrets }, log: deps.log }).verify(await signed(secret));
    const both = { CONSOLE_JWT_SECRET: now, CONSOLE_JWT_SECRET_PREVIOUS: previous };
    expect(await verified(both, previous)).toMatchObject({ sub: 'user-1' });
    expect(await verified(both, now)).toMatchObject({ sub: 'user-1' });
    expect(await verified(both, 'a-third-secret-of-nobody-at-all-0000000')).toBeNull();
    expect(await verified({ CONSOLE_JWT_SECRET: now }, previous)).toBeNull();
  });
});

describe('an API key', () => {
  it('is accepted in both header forms, with the scheme in any case', async () => {
    for (const headers of [
      { 'X-API-Key': merchant.apiKey },
      { Authorization: `ApiKey ${merchant.apiKey}` },
      { authorization: `apikey  ${merchant.apiKey}` },
    ])
      expect(outcome(await programs(headers))).toEqual([200, 'ok']);
  });

  it.each([
    ['that is not there', unknownKey],
    ['of another form', 'not-a-key'],
    ['cut by one character', 'cut'],
    ['in another case', 'case'],
    ['that is an operator', '{"$ne":null}'],
  ])('%s is invalid in both forms', async (what, text) => {
    const key = { cut: merchant.apiKey.slice(0, -1), case: merchant.apiKey.toLowerCase() }[text] ?? text;
    expect(what).not.toBe('');
    expect(outcome(await programs({ 'X-API-Key': key }))).toEqual([401, 'INVALID_API_KEY']);
    expect(outcome(await programs({ Authorization: `ApiKey ${key}` }))).toEqual([401, 'INVALID_API_KEY']);
  });

  it('is not accepted in a query or under another scheme', async () => {
    const query = await merchant.call(`/merchants/me/programs?apiKey=${merchant.apiKey}`, { credential: null });
    expect(outcome(query)).toEqual([401, 'AUTHENTICATION_REQUIRED']);
    expect(outcome(await programs({ Authorization: `Basic ${merchant.apiKey}` }))).toEqual([
      401,
      'AUTHENTICATION_REQUIRED',
    ]);
    expect(outcome(await programs({ Authorization: merchant.apiKey }))).toEqual([401, 'AUTHENTICATION_REQUIRED']);
  });

  it('is required', async () => {
    for (const headers of [{}, { 'X-API-Key': '' }, { Authorization: 'ApiKey ' }])
      expect(outcome(await programs(headers))).toEqual([401, 'AUTHENTICATION_REQUIRED']);
  });

  it('never appears in a response', async () => {
    for (const headers of [{ 'X-API-Key': unknownKey }, { Authorization: `ApiKey ${unknownKey}` }])
      expect((await programs(headers)).text).not.toContain(unknownKey.slice(4));
  });

  it('whose roles have no permissions gets 403, not 401', async () => {
    const none = await addKey(service.deps, { merchantId: merchant.id, roleIds: ['no-longer-there'] });
    expect(outcome(await programs({ 'X-API-Key': none }))).toEqual([403, 'PERMISSION_DENIED']);
  });
});

const base = () => ({ merchantId: merchant.id, roleIds: ['owner'] });
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = () => Math.floor(Date.now() / 1000);
const claims = (over: object = {}) => ({
  ...base(),
  sub: 'user-1',
  iss: 'loyalty-console',
  aud: 'loyalty-pass-service',
  iat: now(),
  exp: now() + 3600,
  ...over,
});

/** Builds a token by hand, because no library would produce the invalid ones. */
function byHand(header: object, payload: object, secret: string | null = jwtSecret): string {
  const text = `${part(header)}.${part(payload)}`;
  const signature = secret === null ? '' : createHmac('sha256', secret).update(text).digest('base64url');
  return `${text}.${signature}`;
}

describe('a console token', () => {
  it('has the permissions of its roles, for its own merchant only', async () => {
    expect(outcome(await programs({ Authorization: `Bearer ${byHand({ alg: 'HS256' }, claims())}` }))).toEqual([
      200,
      'ok',
    ]);
    const viewer = await merchant.token({ roleIds: ['viewer'] });
    expect(outcome(await programs({ Authorization: `bearer ${viewer}` }))).toEqual([200, 'ok']);
    const write = await merchant.call('/merchants/me/members', {
      body: { programId: 'x' },
      credential: { Authorization: `Bearer ${viewer}` },
    });
    expect(outcome(write)).toEqual([403, 'PERMISSION_DENIED']);
  });

  it('of a merchant without a record in the database is accepted', async () => {
    const token = byHand({ alg: 'HS256' }, claims({ merchantId: 'a-merchant-never-seen' }));
    const { status, body } = await programs({ Authorization: `Bearer ${token}` });
    expect([status, body.data]).toEqual([200, []]);
  });

  const forged: [string, () => string][] = [
    ['without a signature and alg none', () => byHand({ alg: 'none' }, claims(), null)],
    ['with alg None', () => byHand({ alg: 'None' }, claims(), null)],
    ['signed by somebody else', () => byHand({ alg: 'HS256' }, claims(), 'a-console-secret-of-somebody-else-01234567')],
    [
      'whose payload was changed',
      () => {
        const [head, , signature] = byHand({ alg: 'HS256' }, claims()).split('.');
        return `${head}.${part(claims({ merchantId: 'another' }))}.${signature}`;
      },
    ],
    ['whose signature was cut', () => byHand({ alg: 'HS256' }, claims()).slice(0, -4)],
    [
      'in another algorithm of the family',
      () => {
        const text = `${part({ alg: 'HS512' })}.${part(claims())}`;
        return `${text}.${createHmac('sha512', jwtSecret).update(text).digest('base64url')}`;
      },
    ],
    ['that has expired', () => byHand({ alg: 'HS256' }, claims({ exp: now() - 60 }))],
    ['that never expires', () => byHand({ alg: 'HS256' }, claims({ exp: undefined }))],
    ['that is not valid yet', () => byHand({ alg: 'HS256' }, claims({ nbf: now() + 600 }))],
    ['of another issuer', () => byHand({ alg: 'HS256' }, claims({ iss: 'another-console' }))],
    ['without an issuer', () => byHand({ alg: 'HS256' }, claims({ iss: undefined }))],
    ['for another audience', () => byHand({ alg: 'HS256' }, claims({ aud: 'another-service' }))],
    ['without an audience', () => byHand({ alg: 'HS256' }, claims({ aud: undefined }))],
    ['without a subject', () => byHand({ alg: 'HS256' }, claims({ sub: undefined }))],
    ['without a merchant', () => byHand({ alg: 'HS256' }, claims({ merchantId: undefined }))],
    ['with a merchant that is an operator', () => byHand({ alg: 'HS256' }, claims({ merchantId: { $ne: null } }))],
    ['with roles that are none', () => byHand({ alg: 'HS256' }, claims({ roleIds: 'owner' }))],
    ['with an unknown critical header', () => byHand({ alg: 'HS256', crit: ['x'], x: 1 }, claims())],
    ['that is an API key', () => merchant.apiKey],
    ['that is no token', () => 'a.b.c'],
    ['of two words', () => `${byHand({ alg: 'HS256' }, claims())} more`],
    ['of nothing', () => ''],
  ];

  it.each(forged)('%s is refused', async (_what, make) => {
    expect(outcome(await programs({ Authorization: `Bearer ${make()}` }))).toEqual([401, 'INVALID_TOKEN']);
  });

  it.each(forged)('%s is refused even with a valid API key: the token wins', async (_what, make) => {
    const headers = { Authorization: `Bearer ${make()}`, 'X-API-Key': merchant.apiKey };
    expect(outcome(await programs(headers))).toEqual([401, 'INVALID_TOKEN']);
  });

  it('that is valid takes precedence over an API key, valid or not', async () => {
    const other = await aMerchant(service);
    const mine = await merchant.program();
    const token = await merchant.token();
    for (const key of [other.apiKey, unknownKey]) {
      const { status, body } = await programs({ Authorization: `Bearer ${token}`, 'X-API-Key': key });
      expect(status).toBe(200);
      expect(body.data.map((program: { _id: string }) => program._id)).toContain(mine._id);
    }
  });
});

describe('a cookie session', () => {
  const cookie = async (extra: Record<string, string> = {}, token?: string) => ({
    Cookie: `theme=dark; session=${token ?? (await merchant.token())}`,
    ...extra,
  });
  const createKey = async (headers: Record<string, string>): Promise<Answer> =>
    merchant.call('/auth/api-keys', { body: { name: 'x', roleIds: ['viewer'] }, credential: headers });

  it('can read without a CSRF header', async () => {
    for (const extra of [{}, { 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }])
      expect(outcome(await programs(await cookie(extra)))).toEqual([200, 'ok']);
  });

  it.each([
    ['from the console itself', { 'Sec-Fetch-Site': 'same-origin' }, 201],
    ['typed by the user', { 'Sec-Fetch-Site': 'none' }, 201],
    ['with the console as its origin', { Origin: 'PUBLIC' }, 201],
    ['with no sign at all', {}, 403],
    ['from another site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['from a sister site', { 'Sec-Fetch-Site': 'same-site' }, 403],
    ['from another origin', { Origin: 'https://evil.example' }, 403],
    ['from an origin that only begins alike', { Origin: 'PUBLIC.evil.example' }, 403],
    ['from a hidden origin', { Origin: 'null' }, 403],
    ['from another site, whatever its referrer', { 'Sec-Fetch-Site': 'cross-site', Referer: 'PUBLIC/' }, 403],
  ] as [string, Record<string, string>, number][])(
    'writing %s, with the headers %o, is answered %d',
    async (_what, extra, status) => {
      const real = Object.fromEntries(
        Object.entries(extra).map(([name, value]) => [name, value.replace('PUBLIC', service.publicUrl)]),
      );
      const answer = await createKey(await cookie(real));
      expect(answer.status).toBe(status);
      if (status === 403) expect(answer.body.error.code).toBe('CSRF_REJECTED');
    },
  );

  it.each(['POST', 'PATCH', 'DELETE'])('needs the CSRF header for %s', async (method) => {
    const path = { POST: '/auth/api-keys', PATCH: '/merchants/me/members/x', DELETE: '/auth/api-keys/x' }[method] ?? '';
    const answer = await merchant.call(path, {
      method,
      ...(method !== 'DELETE' && { body: {} }),
      credential: await cookie(),
    });
    expect(outcome(answer)).toEqual([403, 'CSRF_REJECTED']);
  });

  it('that is invalid gets 401, also next to a valid API key', async () => {
    const bad = byHand({ alg: 'none' }, claims(), null);
    expect(outcome(await programs(await cookie({}, bad)))).toEqual([401, 'INVALID_TOKEN']);
    expect(outcome(await programs(await cookie({ 'X-API-Key': merchant.apiKey }, bad)))).toEqual([
      401,
      'INVALID_TOKEN',
    ]);
  });

  it('yields to a Bearer token, which needs no CSRF header', async () => {
    const headers = await cookie({ Authorization: `Bearer ${await merchant.token()}` }, 'rubbish');
    expect((await createKey(headers)).status).toBe(201);
  });

  it('API keys and Bearer tokens are exempt', async () => {
    const call: Call = { body: { programId: 'no-such-program' } };
    for (const credential of [
      { 'X-API-Key': merchant.apiKey, 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' },
      { Authorization: `Bearer ${await merchant.token()}`, 'Sec-Fetch-Site': 'cross-site' },
    ])
      expect(outcome(await merchant.call('/merchants/me/members', { ...call, credential }))).toEqual([
        404,
        'PROGRAM_NOT_FOUND',
      ]);
  });
});

describe('tokens by JWKS', () => {
  let jwks: JwksServer;
  let bySet: TestService;
  let own: TestMerchant;
  let rsa: ConsoleKey;
  let ec: ConsoleKey;

  beforeAll(async () => {
    jwks = await startJwksServer();
    [rsa, ec] = [await jwks.add('rsa-1'), await jwks.add('ec-1', 'ES256')];
    bySet = await startService({ worker: false, env: { CONSOLE_JWKS_URL: jwks.url } });
    own = await aMerchant(bySet);
  });

  afterAll(async () => {
    await bySet.stop();
    await jwks.stop();
  });

  const signed = ({ kid, alg, privateKey }: ConsoleKey, over: object = {}) =>
    new SignJWT({ ...claims({ merchantId: own.id }), ...over }).setProtectedHeader({ alg, kid }).sign(privateKey);
  const ask = async (token: string) => outcome(await programs({ Authorization: `Bearer ${token}` }, own));

  it('are accepted when the set has their key, for each allowed algorithm', async () => {
    expect(await ask(await signed(rsa))).toEqual([200, 'ok']);
    expect(await ask(await signed(ec))).toEqual([200, 'ok']);
    expect(jwks.asked()).toBe(1);
  });

  it('signed with the shared secret are refused: only keys of the set are accepted', async () => {
    expect(await ask(byHand({ alg: 'HS256' }, claims({ merchantId: own.id })))).toEqual([401, 'INVALID_TOKEN']);
  });

  it('signed with a public key as an HMAC secret are refused', async () => {
    for (const secret of [rsa.publicPem, rsa.publicPem.trim()])
      expect(await ask(byHand({ alg: 'HS256', kid: rsa.kid }, claims({ merchantId: own.id }), secret))).toEqual([
        401,
        'INVALID_TOKEN',
      ]);
  });

  it('whose key only claims to be in the set or is embedded in the token are refused', async () => {
    const stranger = await (await startStranger()).key;
    expect(await ask(await signed({ ...stranger, kid: rsa.kid }))).toEqual([401, 'INVALID_TOKEN']);
    const selfMade = await new SignJWT(claims({ merchantId: own.id }))
      .setProtectedHeader({ alg: 'RS256', jwk: { kty: 'RSA', e: 'AQAB', n: 'AQAB' }, jku: jwks.url })
      .sign(stranger.privateKey);
    expect(await ask(selfMade)).toEqual([401, 'INVALID_TOKEN']);
  });

  it('that are expired, of another issuer or for another audience are refused', async () => {
    for (const over of [{ exp: now() - 60 }, { iss: 'another' }, { aud: 'another' }])
      expect(await ask(await signed(rsa, over))).toEqual([401, 'INVALID_TOKEN']);
  });

  async function startStranger() {
    const elsewhere = await startJwksServer();
    const key = elsewhere.add('stranger');
    await elsewhere.stop();
    return { key };
  }
});

describe('tokens while the JWKS is unavailable', () => {
  it('are answered 503 without counting as failed sign-ins, and API keys still work', async () => {
    const gone = await startJwksServer();
    const key = await gone.add('rsa-1');
    await gone.stop();
    const env = { CONSOLE_JWKS_URL: gone.url, RATE_LIMIT_PUBLIC: '2' };
    const alone = await startService({ worker: false, env });
    try {
      const own = await aMerchant(alone);
      const token = await new SignJWT(claims({ merchantId: own.id }))
        .setProtectedHeader({ alg: key.alg, kid: key.kid })
        .sign(key.privateKey);
      for (let tries = 0; tries < 5; tries += 1)
        expect(outcome(await programs({ Authorization: `Bearer ${token}` }, own))).toEqual([503, 'UNAVAILABLE']);
      expect(outcome(await programs({ 'X-API-Key': unknownKey }, own))).toEqual([401, 'INVALID_API_KEY']);
      expect(outcome(await programs({ 'X-API-Key': own.apiKey }, own))).toEqual([200, 'ok']);
    } finally {
      await alone.stop();
    }
  });
});
