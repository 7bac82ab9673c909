// Settings from files, and the ways to connect to Temporal.
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../platform/config/loadConfig.js';
import { temporalConnectionOptions } from '../../../platform/temporal/connectionOptions.js';
import { readSettings } from '../../../stack/settings.js';
import { createTestAuthority } from '../../rig/standins/certificates.js';

let folder: string;
const file = (name: string, content: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secrets = {
  CONSOLE_JWT_SECRET: 'a-console-secret-of-forty-characters-0000',
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
};

describe('a setting from a file', () => {
  it('is the content of the file without the final line end', () => {
    const config = loadConfig({
      CONSOLE_JWT_SECRET_FILE: file('jwt', `${secrets.CONSOLE_JWT_SECRET}\n`),
      SECRETS_KEY_FILE: file('key', secrets.SECRETS_KEY),
      MONGODB_URI_FILE: file('uri', 'mongodb://user:pass word@db/\r\n'),
    });
    expect(config.CONSOLE_JWT_SECRET).toBe(secrets.CONSOLE_JWT_SECRET);
    expect(config.SECRETS_KEY).toBe(secrets.SECRETS_KEY);
    expect(config.MONGODB_URI).toBe('mongodb://user:pass word@db/');
  });

  it('may be a certificate as Apple provides it, or start with the mark of an editor', () => {
    const { cert } = createTestAuthority().issue(['signer']);
    const config = loadConfig({
      ...secrets,
      APPLE_SIGNER_CERT_FILE: file('cer', new X509Certificate(cert).raw),
      MAIL_FROM_FILE: file('from', '\ufeffcafé@example.com\n'),
    });
    expect(config.APPLE_SIGNER_CERT).toBe(`${new X509Certificate(cert)}`.trim());
    expect(config.MAIL_FROM).toBe('café@example.com');
  });

  it('that is no text is a mistake that does not show it', () => {
    const config = () =>
      loadConfig({ ...secrets, SMTP_URL_FILE: file('latin', Buffer.from('smtps://caf\xe9', 'latin1')) });
    expect(config).toThrow('SMTP_URL_FILE: is neither UTF-8 text nor a certificate');
    expect(config).not.toThrow(/caf/);
  });

  it('that is unreadable, set twice or wrong is named with every other mistake', () => {
    const wrong = {
      SECRETS_KEY_FILE: join(folder, 'absent'),
      CONSOLE_JWT_SECRET: secrets.CONSOLE_JWT_SECRET,
      CONSOLE_JWT_SECRET_FILE: file('jwt', secrets.CONSOLE_JWT_SECRET),
      REDIS_URL_FILE: '',
      LOG_LEVEL_FILE: file('level', 'loud'),
      PORT: 'x',
    };
    const lines = () => loadConfig(wrong);
    expect(lines).toThrow(/^The configuration is wrong:/);
    for (const name of [
      'SECRETS_KEY_FILE: ENOENT',
      'CONSOLE_JWT_SECRET_FILE: is set together with',
      'LOG_LEVEL: ',
      'PORT: ',
    ])
      expect(lines).toThrow(name);
    expect(lines).not.toThrow(/SECRETS_KEY: /);
  });
});

describe('MongoDB', () => {
  it.each([
    'nonsense',
    'http://db/',
    'mongodb://',
    'mongodb://db:99999',
    'mongodb://ada:%zz-secret@db/',
    'mongodb://db/?readConcernLevels=majority',
    'mongodb://db/?tls=maybe',
    'mongodb+srv://db:27017',
  ])('at an address that its driver cannot read is a wrong configuration, also of the stack: %s', (MONGODB_URI) => {
    const mistake = /^The configuration is wrong:\n {2}MONGODB_URI: must be (?!.*secret)/;
    expect(() => loadConfig({ ...secrets, MONGODB_URI })).toThrow(mistake);
    expect(() => readSettings({ MONGODB_URI })).toThrow(expect.objectContaining({ exitCode: 78 }));
  });

  it.each([
    'mongodb://a,b:1,[::1]:2/loyalty?replicaSet=rs',
    'mongodb+srv://ada:p%40ss@cluster.example/?retryWrites=true',
  ])('may be at %s', (MONGODB_URI) => expect(loadConfig({ ...secrets, MONGODB_URI })).toMatchObject({ MONGODB_URI }));
});

describe('Temporal', () => {
  it('is used without TLS on loopback by default', () => {
    const { connection, namespace } = temporalConnectionOptions(loadConfig(secrets));
    expect(connection.address).toBe('127.0.0.1:7233');
    expect(connection.tls).toBeUndefined();
    expect(namespace).toBe('default');
  });

  it('is used with an API key over TLS', () => {
    const env = {
      TEMPORAL_ADDRESS: 'cloud:7233',
      TEMPORAL_NAMESPACE: 'ours.acct',
      TEMPORAL_API_KEY_FILE: file('k', 'k1\n'),
    };
    const { connection, namespace } = temporalConnectionOptions(loadConfig({ ...secrets, ...env }));
    expect(connection).toMatchObject({ address: 'cloud:7233', apiKey: 'k1', tls: true });
    expect(namespace).toBe('ours.acct');
  });

  it('is used with client certificates', () => {
    const { ca, issue } = createTestAuthority();
    const { cert, key } = issue(['worker']);
    const env = {
      TEMPORAL_TLS_CLIENT_CERT_PATH: file('crt', cert),
      TEMPORAL_TLS_CLIENT_KEY_PATH: file('pem', key),
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('ca', ca),
      TEMPORAL_TLS_SERVER_NAME: 'temporal.internal',
    };
    const { tls } = temporalConnectionOptions(loadConfig({ ...secrets, ...env })).connection;
    expect(tls).toMatchObject({
      serverNameOverride: 'temporal.internal',
      serverRootCACertificate: Uint8Array.from(Buffer.from(ca)),
      clientCertPair: { crt: Uint8Array.from(Buffer.from(cert)), key: Uint8Array.from(Buffer.from(key)) },
    });
  });

  it('is used by a profile, and the environment overrides the profile', () => {
    const toml =
      '[profile.production]\naddress = "cluster:7233"\nnamespace = "passes"\n[profile.production.tls]\ndisabled = true\n';
    const env = { TEMPORAL_CONFIG_FILE: file('t.toml', toml), TEMPORAL_PROFILE: 'production' };
    expect(temporalConnectionOptions(loadConfig({ ...secrets, ...env }))).toMatchObject({
      connection: { address: 'cluster:7233', tls: false },
      namespace: 'passes',
    });
    const other = temporalConnectionOptions(loadConfig({ ...secrets, ...env, TEMPORAL_ADDRESS: 'other:7233' }));
    expect(other.connection.address).toBe('other:7233');
  });

  it.each([
    [{ TEMPORAL_CONFIG_FILE: '/absent/temporal.toml' }, 'TEMPORAL_CONFIG_FILE: /absent/temporal.toml is not there'],
    [{ TEMPORAL_PROFILE: 'nobody' }, "Profile 'nobody' not found"],
    [{ TEMPORAL_TLS_CLIENT_CERT_PATH: '/absent.pem' }, 'ENOENT'],
    ...['h:port', 'http://h:7233', 'h:1:2', '[::1', 'h:', ''.padEnd(3)].map((TEMPORAL_ADDRESS): [object, string] => [
      { TEMPORAL_ADDRESS },
      'TEMPORAL_ADDRESS: must be',
    ]),
    [{ TEMPORAL_TLS_SERVER_CA_CERT_DATA: 'garbage' }, 'TEMPORAL_TLS_SERVER_CA_CERT_*: must be certificates in PEM'],
    [
      { TEMPORAL_TLS_CLIENT_CERT_DATA: 'garbage', TEMPORAL_TLS_CLIENT_KEY_DATA: 'garbage' },
      'TEMPORAL_TLS_CLIENT_*: must be a certificate and its key',
    ],
  ])('with a wrong combination is a wrong configuration: %o', (env, message) => {
    expect(() => loadConfig({ ...secrets, ...env })).toThrow(message);
  });
});
