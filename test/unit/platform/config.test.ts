// One message names every wrong variable, so that an operator corrects all of them at once.
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Config, ConfigError, configNames, readConfig } from '../../../schemas/shared/config.schema.js';
import { createTestAuthority } from '../../rig/standins/certificates.js';

const good = {
  CONSOLE_JWT_SECRET: 'a secret of thirty-two bytes, or more',
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
};

/** A wrong value for each variable that has a rule. */
const wrong: Record<string, string> = {
  HOST: '',
  PORT: '65536',
  METRICS_PORT: 'http',
  PUBLIC_URL: 'ftp://example.com',
  LIVE_DESK_URL: 'https://desk.example.com/',
  MONGODB_URI: '',
  MONGODB_DATABASE: 'two words',
  LOG_LEVEL: 'loud',
  CONSOLE_JWT_SECRET: 'too short',
  CONSOLE_JWT_SECRET_PREVIOUS: 'too short',
  CONSOLE_JWKS_URL: 'ftp://console.example/jwks',
  CONSOLE_JWT_ALGORITHMS: 'RS256,HS256',
  CONSOLE_JWT_ISSUER: '',
  CONSOLE_JWT_AUDIENCE: '',
  CONSOLE_OIDC_ISSUER: 'http://login.example.com',
  SESSION_IDLE_MS: '1000',
  SESSION_MAX_MS: '1000',
  SIGN_IN_LINK_MS: '1000',
  SECRETS_KEY: 'c2hvcnQ=',
  SECRETS_KEY_PREVIOUS: 'c2hvcnQ=',
  TEMPORAL_CODEC_KEY: 'c2hvcnQ=',
  TEMPORAL_CODEC_TOKEN: 'too short',
  TEMPORAL_CODEC_ORIGIN: 'temporal-ui',
  TRUST_PROXY: 'yes',
  RATE_LIMIT_AUTHENTICATED: '0',
  RATE_LIMIT_PUBLIC: '-1',
  RATE_LIMIT_WINDOW_MS: '999',
  IMPORT_MAX_BYTES: '1.5',
  IMPORT_MAX_ROWS: '0',
  EVENTS_CSV_MAX_ROWS: '1e3',
  SEARCH_MAX_ROWS: '99',
  LIST_MAX_ROWS: '99',
  PASS_UPDATE_WAIT_MS: '8001',
  CHANGE_WORKFLOWS_PER_SECOND: '10001',
  RELAY_SHARDS: '65',
  SMTP_URL: 'https://mail.example.com',
  REDIS_URL: 'http://redis.example',
  SMTP_CA: '-----BEGIN CERTIFICATE-----\nnot a certificate\n-----END CERTIFICATE-----',
  SMTP_TIMEOUT_MS: '999',
  MAIL_FROM: 'Ada <ada@example.com>',
  MAIL_PER_ADDRESS_AN_HOUR: '0',
  MAIL_SIGN_INS_PER_ADDRESS: '0',
  MAIL_PER_PROGRAM_A_MINUTE: '0',
  MAIL_MAX_WAIT_MS: '28800001',
  WEBHOOK_ALLOW_HTTP: 'maybe',
  WEBHOOK_ALLOW_CIDRS: '10.0.0.0/33',
};

function mistakes(env: Record<string, string | undefined>): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [, ...lines] = error.message.split('\n');
    return lines.map((line) => /^ {2}([A-Z_]+)/.exec(line)?.[1] ?? line);
  }
}

const named = (found: string[]) => [...new Set(found)].sort();

describe('a wrong configuration', () => {
  it('names every wrong variable in one message', () => {
    fc.assert(
      fc.property(fc.subarray(Object.keys(wrong), { minLength: 1 }), (names) => {
        const env = { ...good, ...Object.fromEntries(names.map((name) => [name, wrong[name]])) };
        expect(named(mistakes(env))).toEqual([...names].sort());
      }),
    );
  });

  it.each(Object.entries(wrong))('describes what is wrong with %s', (name, value) => {
    expect(() => readConfig({ ...good, [name]: value })).toThrow(
      new RegExp(`^  ${name}: (?!is not valid|.*(?:[Ii]nvalid|expected|received))`, 'm'),
    );
  });

  it('reads an empty port of the worker as one that is not set', () => {
    expect(readConfig({ ...good, WORKER_METRICS_PORT: '' }).WORKER_METRICS_PORT).toBeUndefined();
    expect(readConfig({ ...good, WORKER_METRICS_PORT: '9465' }).WORKER_METRICS_PORT).toBe(9465);
  });

  it.each([
    ['SMTP_URL', ['nonsense', '://', 'smtp://', 'smtp://[::g]', 'h:25', 'smtp://a:%zz@h.example', 'smtps://%@h']],
    [
      'REDIS_URL',
      ['redis://a:%zz@h.example', 'rediss://%e9:b@h', 'a:%@h:6379', 'redis://h:99999', 'tls://h', 'h:port'],
    ],
  ])('%s that is no address, or cannot be decoded, is a mistake like any other', (name, values) => {
    for (const value of values) expect([value, named(mistakes({ ...good, [name]: value }))]).toEqual([value, [name]]);
    const scheme = name === 'SMTP_URL' ? 'smtps' : 'rediss';
    for (const value of [`${scheme}://h.example:2525`, `${scheme}://a:%25zz@[::1]`, ''])
      expect([value, mistakes({ ...good, [name]: value })]).toEqual([value, []]);
  });

  it('with any text as SMTP_URL is a ConfigError, or has a user and a password that can be decoded', () => {
    const text = fc.oneof(
      fc.string().map((rest) => `smtp://${rest}`),
      fc.string(),
      fc.tuple(fc.string(), fc.string()).map(([user, password]) => `smtp://${user}:${password}@h.example`),
    );
    fc.assert(
      fc.property(text, (value) => {
        const found = mistakes({ ...good, SMTP_URL: value });
        expect(found.every((mistake) => mistake === 'SMTP_URL')).toBe(true);
        if (found.length > 0 || value === '') return;
        const { username, password } = new URL(value);
        decodeURIComponent(username);
        decodeURIComponent(password);
      }),
    );
  });

  it('SMTP_CA is certificates that can all be read, also on one line and with words between them', () => {
    const [one, other] = [createTestAuthority().ca, createTestAuthority().ca];
    const cut = (pem: string) => pem.replace(/[\w+/]{8}\r?\n/, '\n');
    for (const pem of [one, one + other, `ours:\n${one}\ntheirs:\n${other}`, one.replaceAll('\n', '\\n'), ''])
      expect(mistakes({ ...good, SMTP_CA: pem })).toEqual([]);
    for (const pem of ['/etc/ca.pem', cut(one), one + cut(other), one.slice(0, 200), '-----BEGIN CERTIFICATE-----'])
      expect([pem, mistakes({ ...good, SMTP_CA: pem })]).toEqual([pem, ['SMTP_CA']]);
  });

  it('CONSOLE_JWKS_URL is an address that can be fetched, and the algorithms are those of key pairs', () => {
    const at = (url: string, algorithms = 'ES256') =>
      mistakes({ ...good, CONSOLE_JWKS_URL: url, CONSOLE_JWT_ALGORITHMS: algorithms });
    for (const url of ['file:///etc/keys', 'console.example/jwks', 'https://ada:secret@console.example/', 'https://'])
      expect([url, at(url)]).toEqual([url, ['CONSOLE_JWKS_URL']]);
    for (const url of ['https://console.example/jwks?v=1', 'http://console:3000/keys', '']) expect(at(url)).toEqual([]);
    for (const names of ['', 'none', 'RS256 ES256', 'rs256', 'HS512', 'RS256,'])
      expect([names, at('', names)]).toEqual([names, ['CONSOLE_JWT_ALGORITHMS']]);
    expect(readConfig({ ...good, CONSOLE_JWT_ALGORITHMS: 'PS512, EdDSA' }).CONSOLE_JWT_ALGORITHMS).toEqual([
      ...['PS512', 'EdDSA'],
    ]);
  });

  it('never shows a value, which may be a secret', () => {
    expect(() => readConfig({ ...good, CONSOLE_JWT_SECRET: 'hunter2hunter2' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    );
  });

  it('names the secrets that are missing', () => {
    expect(named(mistakes({}))).toEqual(['CONSOLE_JWT_SECRET', 'SECRETS_KEY']);
    expect(mistakes({ SECRETS_KEY: good.SECRETS_KEY, CONSOLE_JWKS_URL: 'https://console.example/jwks' })).toEqual([]);
  });
});

describe('an OpenID provider', () => {
  const client = { CONSOLE_OIDC_CLIENT_ID: 'loyalty', CONSOLE_OIDC_CLIENT_SECRET: 'secret' };
  const at = (CONSOLE_OIDC_ISSUER: string, given: object = client) =>
    named(mistakes({ ...good, CONSOLE_OIDC_ISSUER, ...given }));

  it('may use plain HTTP only on loopback', () => {
    for (const issuer of ['https://login.example.com/tenant', 'http://127.0.0.1:4444', 'http://localhost:4444', ''])
      expect([issuer, at(issuer)]).toEqual([issuer, []]);
    for (const issuer of ['http://login.example.com', 'http://10.0.0.1', 'ldap://login.example.com', 'login'])
      expect([issuer, at(issuer)]).toEqual([issuer, ['CONSOLE_OIDC_ISSUER']]);
  });

  it('needs a client and its secret', () => {
    for (const name of Object.keys(client))
      expect(at('https://login.example.com', { ...client, [name]: '' })).toEqual(['CONSOLE_OIDC_ISSUER']);
  });
});

describe('a valid configuration', () => {
  it('has the defaults of the interface', () => {
    expect(readConfig(good)).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 3000,
      METRICS_PORT: 9464,
      PUBLIC_URL: 'http://127.0.0.1:3000',
      RATE_LIMIT_AUTHENTICATED: 1000,
      RATE_LIMIT_PUBLIC: 50,
      RATE_LIMIT_WINDOW_MS: 900_000,
      IMPORT_MAX_BYTES: 1_048_576,
      IMPORT_MAX_ROWS: 5000,
      EVENTS_CSV_MAX_ROWS: 5000,
      SEARCH_MAX_ROWS: 5000,
      LIST_MAX_ROWS: 100_000,
      MERCHANT_MAX_TAGS: 1000,
      MERCHANT_MAX_API_KEYS: 1000,
      MERCHANT_MAX_USERS: 1000,
      SESSION_IDLE_MS: 43_200_000,
      SESSION_MAX_MS: 604_800_000,
      SIGN_IN_LINK_MS: 900_000,
      PASS_UPDATE_WAIT_MS: 2000,
      WALLET_DEVICES_PER_PASS: 50,
      WALLET_PASSES_PER_DEVICE: 1000,
      WALLET_REGISTRATIONS_PER_PASS: 30,
      WALLET_CALLS_PER_ADDRESS: 600,
      WALLET_LOG_LINES_PER_PASS: 100,
      WEBHOOK_ALLOW_HTTP: false,
      WEBHOOK_ALLOW_CIDRS: '',
      TRUST_PROXY: 0,
      KEEP_ALIVE_MS: 75_000,
    });
  });

  it('builds its public address from host and port unless one is set, without a slash at its end', () => {
    expect(readConfig({ ...good, HOST: '0.0.0.0', PORT: '80' }).PUBLIC_URL).toBe('http://0.0.0.0:80');
    expect(readConfig({ ...good, PUBLIC_URL: 'https://loyalty.example/' }).PUBLIC_URL).toBe('https://loyalty.example');
    expect(readConfig({ ...good, PUBLIC_URL: '' }).PUBLIC_URL).toBe('http://127.0.0.1:3000');
  });

  it('reads true as one proxy', () => {
    const proxies = ['true', 'false', '', '0', '2'].map(
      (TRUST_PROXY) => readConfig({ ...good, TRUST_PROXY }).TRUST_PROXY,
    );
    expect(proxies).toEqual([1, 0, 0, 0, 2]);
  });

  it('ignores unknown variables', () => {
    expect(readConfig({ ...good, PATH: '/bin', HOME: '/' })).not.toHaveProperty('PATH');
  });

  it('knows every declared variable', () => {
    expect(configNames).toEqual(expect.arrayContaining(Object.keys(wrong)));
    expectTypeOf<Config['PUBLIC_URL']>().toEqualTypeOf<string>();
    expectTypeOf<Config['PORT']>().toEqualTypeOf<number>();
    expectTypeOf<Config['REDIS_URL']>().toEqualTypeOf<string | undefined>();
  });
});
