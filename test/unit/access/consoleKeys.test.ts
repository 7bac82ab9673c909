// The console's public keys: how long they are cached, and what happens while they cannot be fetched.
import type { KeyObject } from 'node:crypto';
import { exportJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { createConsoleKeys } from '../../../api/http/consoleKeys.client.js';
import { newKeyPair } from '../../rig/standins/keyPairs.js';

const pairs = new Map<string, { privateKey: KeyObject; jwk: JWK }>();
beforeAll(async () => {
  for (const kid of ['one', 'two']) {
    const { publicKey, privateKey } = newKeyPair('ec');
    pairs.set(kid, { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' } });
  }
});

/** A console whose answer, availability and clock the test controls. */
function aConsole(headers: Record<string, string> = {}) {
  const state = { away: false, kids: ['one'], asked: 0, at: 1_000_000 };
  const keys = createConsoleKeys({
    url: 'https://console.example/jwks.json',
    log: { warn: () => {} },
    now: () => state.at,
    async fetch() {
      state.asked += 1;
      if (state.away) throw new TypeError('fetch failed');
      return Response.json({ keys: state.kids.map((kid) => pairs.get(kid)?.jwk) }, { headers });
    },
  });
  const verify = async (kid: string): Promise<string> => {
    const pair = pairs.get(kid) ?? pairs.get('two');
    const token = await new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid }).sign(pair?.privateKey as KeyObject);
    return jwtVerify(token, keys).then(
      () => 'ok',
      (error) => error.code,
    );
  };
  return { state, verify };
}

describe("the console's keys", () => {
  it.each([
    ['as long as max-age allows', { 'Cache-Control': 'public, max-age=3600' }, 3_600],
    ['less what they already aged', { 'Cache-Control': 'max-age=3600', Age: '600' }, 3_000],
    ['ten minutes without a header', {}, 600],
    ['a day at most', { 'Cache-Control': 'max-age=99999999' }, 86_400],
    ['half a minute where nothing may be kept', { 'Cache-Control': 'no-store' }, 30],
  ])('are kept %s', async (_what, headers, seconds) => {
    const { state, verify } = aConsole(headers);
    expect(await verify('one')).toBe('ok');
    state.at += seconds * 1_000 - 1;
    expect([await verify('one'), state.asked]).toEqual(['ok', 1]);
    state.at += 1;
    expect([await verify('one'), state.asked]).toEqual(['ok', 2]);
  });

  it('stay valid while they cannot be fetched again, and a removed key is refused after the next fetch', async () => {
    const { state, verify } = aConsole();
    expect(await verify('one')).toBe('ok');
    state.away = true;
    state.at += 3_600_000;
    expect(await verify('one')).toBe('ok');
    state.at += 29_999;
    expect([await verify('one'), state.asked]).toEqual(['ok', 2]);
    Object.assign(state, { away: false, kids: ['two'], at: state.at + 1 });
    expect([await verify('one'), state.asked]).toEqual(['ERR_JWKS_NO_MATCHING_KEY', 3]);
  });

  it('that are unknown are fetched at most once in 30 s', async () => {
    const { state, verify } = aConsole();
    expect(await verify('one')).toBe('ok');
    state.kids = ['one', 'two'];
    expect([await verify('two'), state.asked]).toEqual(['ERR_JWKS_NO_MATCHING_KEY', 1]);
    state.at += 30_000;
    expect([await verify('two'), state.asked]).toEqual(['ok', 2]);
    expect([await verify('three'), state.asked]).toEqual(['ERR_JWKS_NO_MATCHING_KEY', 2]);
  });

  it('that cannot be fetched are unavailable, not wrong', async () => {
    const { state, verify } = aConsole();
    state.away = true;
    expect(await Promise.all(['one', 'one', 'two'].map(verify))).toEqual(Array(3).fill('UNAVAILABLE'));
    expect(state.asked).toBe(1);
    Object.assign(state, { away: false, at: state.at + 30_000 });
    expect(await verify('one')).toBe('ok');
    Object.assign(state, { away: true, at: state.at + 30_000 });
    expect([await verify('two'), await verify('one')]).toEqual(['UNAVAILABLE', 'ok']);
  });
});
