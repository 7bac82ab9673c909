// Google credentials: real mode when they are complete, otherwise stub mode with a reason.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type GoogleSettings, loadGoogleCredentials } from '../../../activities/wallets/google/credentials.rules.js';
import { newKeyPair } from '../../rig/standins/keyPairs.js';

const key = newKeyPair('rsa').privatePem;
const ecKey = newKeyPair('ec').privatePem;
const account = { type: 'service_account', client_email: 'a@b.iam.gserviceaccount.com', private_key: key };
const folder = mkdtempSync(join(tmpdir(), 'google-credentials-'));
afterAll(() => rmSync(folder, { recursive: true }));

const settings = (changes: Partial<GoogleSettings> = {}, accountChanges: object = {}): GoogleSettings => ({
  GOOGLE_WALLET_ISSUER_ID: '3388000000012345678',
  GOOGLE_WALLET_CREDENTIALS: JSON.stringify({ ...account, ...accountChanges }),
  ...changes,
});

describe('Google credentials', () => {
  it("from JSON are real and use Google's addresses", () => {
    expect(loadGoogleCredentials(settings())).toEqual({
      mode: 'real',
      issuerId: '3388000000012345678',
      clientEmail: 'a@b.iam.gserviceaccount.com',
      privateKey: key,
      tokenUri: 'https://oauth2.googleapis.com/token',
      origin: 'https://walletobjects.googleapis.com',
      callbackKeysUrl: 'https://pay.google.com/gp/m/issuer/keys',
    });
  });

  it('from a file are the same as from text', () => {
    const path = join(folder, 'account.json');
    writeFileSync(path, JSON.stringify(account));
    expect(loadGoogleCredentials(settings({ GOOGLE_WALLET_CREDENTIALS: path }))).toEqual(
      loadGoogleCredentials(settings()),
    );
  });

  it("use the account's token_uri, and fetch the callback keys from a configured origin", () => {
    const local = settings(
      { GOOGLE_WALLET_ORIGIN: 'http://127.0.0.1:8080/' },
      { token_uri: 'http://localhost:8080/token' },
    );
    expect(loadGoogleCredentials(local)).toMatchObject({
      mode: 'real',
      tokenUri: 'http://localhost:8080/token',
      origin: 'http://127.0.0.1:8080',
      callbackKeysUrl: 'http://127.0.0.1:8080/gp/m/issuer/keys',
    });
    expect(loadGoogleCredentials({ ...local, GOOGLE_CALLBACK_KEYS_URL: 'http://[::1]:9/keys' })).toMatchObject({
      callbackKeysUrl: 'http://[::1]:9/keys',
    });
  });

  it('whose key has doubly escaped line ends still work', () => {
    const escaped = settings({}, { private_key: key.replaceAll('\n', '\\n') });
    expect(loadGoogleCredentials(escaped)).toMatchObject({ mode: 'real', privateKey: key });
  });

  it.each<[string, GoogleSettings, RegExp]>([
    ['nothing set', {}, /ISSUER_ID and GOOGLE_WALLET_CREDENTIALS are not set/],
    ['empty settings', { GOOGLE_WALLET_ISSUER_ID: '', GOOGLE_WALLET_CREDENTIALS: ' ' }, /are not set/],
    ['no issuer', settings({ GOOGLE_WALLET_ISSUER_ID: undefined }), /ISSUER_ID is not set/],
    ['no account', settings({ GOOGLE_WALLET_CREDENTIALS: undefined }), /CREDENTIALS is not set/],
    ['an issuer that is an email', settings({ GOOGLE_WALLET_ISSUER_ID: 'a@b.c' }), /not an issuer id/],
    ['a file that is not there', settings({ GOOGLE_WALLET_CREDENTIALS: '/nowhere/account.json' }), /cannot be read/],
    ['a file that is a folder', settings({ GOOGLE_WALLET_CREDENTIALS: folder }), /cannot be read/],
    ['text that is not JSON', settings({ GOOGLE_WALLET_CREDENTIALS: '{"type":' }), /is not JSON/],
    ['another type of account', settings({}, { type: 'authorized_user' }), /type is not service_account/],
    ['no email', settings({}, { client_email: undefined }), /no client_email/],
    ['no key', settings({}, { private_key: undefined }), /no private_key/],
    ['a key of another kind', settings({}, { private_key: ecKey }), /not an RSA key/],
    ['a key that is none', settings({}, { private_key: 'secret' }), /not an RSA key/],
    ['a token_uri without TLS', settings({}, { token_uri: 'http://example.com/token' }), /token_uri .* loopback/],
    ['an origin without TLS', settings({ GOOGLE_WALLET_ORIGIN: 'http://10.0.0.1' }), /ORIGIN .* loopback/],
    ['an origin that only looks local', settings({ GOOGLE_WALLET_ORIGIN: 'http://127.0.0.1.example.com' }), /loopback/],
    ['an origin with a path', settings({ GOOGLE_WALLET_ORIGIN: 'https://example.com/x' }), /more than a scheme/],
    ['an origin that is no URL', settings({ GOOGLE_WALLET_ORIGIN: 'google' }), /not a URL/],
    ['keys from a URL with a password', settings({ GOOGLE_CALLBACK_KEYS_URL: 'https://a:b@example.com/' }), /password/],
  ])('with %s are in stub mode, with a reason in one sentence', (_, given, why) => {
    const credentials = loadGoogleCredentials(given);
    expect(credentials).toEqual({ mode: 'stub', reason: expect.stringMatching(why) });
    expect(JSON.stringify(credentials)).toMatch(/^[^.]*\."\}$/);
    expect(JSON.stringify(credentials)).not.toContain('PRIVATE');
  });

  it('never throw, for any input', () => {
    const anything = fc.option(fc.oneof(fc.string(), fc.json(), fc.webUrl()), { nil: undefined });
    fc.assert(
      fc.property(anything, anything, anything, anything, (issuer, text, origin, keys) => {
        const { mode } = loadGoogleCredentials({
          GOOGLE_WALLET_ISSUER_ID: issuer,
          GOOGLE_WALLET_CREDENTIALS: text,
          GOOGLE_WALLET_ORIGIN: origin,
          GOOGLE_CALLBACK_KEYS_URL: keys,
        });
        expect(mode).toBe('stub');
      }),
    );
  });
});
