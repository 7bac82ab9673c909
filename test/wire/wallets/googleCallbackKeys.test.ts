// Google's callback keys: how long they are cached, and what happens while they cannot be fetched.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CallbackKeys, createCallbackKeys } from '../../../api/wallets/google/callbackKeys.client.js';
import { type GoogleFault, type GoogleServer, startGoogleServer } from '../../rig/standins/googleServer.js';

let google: GoogleServer;
let time: number;

beforeEach(async () => {
  time = Date.parse('2026-05-01T12:00:00Z');
  google = await startGoogleServer({ now: () => time });
});
afterEach(() => google.close());

function connect(changes: { timeoutMs?: number } = {}): CallbackKeys {
  return createCallbackKeys({ url: `${google.origin}/gp/m/issuer/keys`, clock: { now: () => time }, ...changes });
}
const fetches = () => google.requests.filter(({ kind }) => kind === 'keys').length;
const published = () => google.signer.published().keys.map(({ keyValue }) => keyValue);
const known = async (keys: CallbackKeys) => (await keys.rootKeys()).map(({ keyValue }) => keyValue);

describe("Google's callback keys", () => {
  it('are fetched once within the time of the cache header, for any number of callbacks', async () => {
    const keys = connect();
    await Promise.all(Array.from({ length: 20 }, () => keys.rootKeys()));
    time += 3_599_999;
    expect(await known(keys)).toEqual(published());
    expect(fetches()).toBe(1);
    time += 1;
    await keys.rootKeys();
    expect(fetches()).toBe(2);
  });

  it('that were rotated are used when the cache time is over', async () => {
    google.keysCacheControl = 'private, max-age=60';
    const keys = connect();
    const before = await known(keys);
    google.signer.rotate({ keepOld: true });
    expect(await known(keys)).toEqual(before);
    time += 60_000;
    const after = await known(keys);
    expect(after).toEqual(published());
    expect(after).toContain(before[0]);
  });

  it.each([null, 'no-store', 'no-cache, max-age=900', 'max-age=0', 'max-age=later'])(
    'sent with %s are fetched again, but not within ten seconds',
    async (control) => {
      google.keysCacheControl = control;
      const keys = connect();
      await keys.rootKeys();
      time += 9_999;
      await keys.rootKeys();
      expect(fetches()).toBe(1);
      time += 1;
      await keys.rootKeys();
      expect(fetches()).toBe(2);
    },
  );

  it('are kept for a day at most', async () => {
    google.keysCacheControl = 'max-age=31536000';
    const keys = connect();
    await keys.rootKeys();
    time += 24 * 3_600_000;
    await keys.rootKeys();
    expect(fetches()).toBe(2);
  });

  it('are kept until the first of them expires at most', async () => {
    const expires = time + 30_000;
    const document = { keys: [{ keyValue: 'A', protocolVersion: 'ECv2SigningOnly', keyExpiration: String(expires) }] };
    let asked = 0;
    const keys = createCallbackKeys({
      url: google.origin,
      clock: { now: () => time },
      fetch: async () => {
        asked += 1;
        return Response.json(document, { headers: { 'cache-control': 'max-age=3600' } });
      },
    });
    await keys.rootKeys();
    time = expires - 1;
    await keys.rootKeys();
    expect(asked).toBe(1);
    time = expires;
    await keys.rootKeys();
    expect(asked).toBe(2);
  });

  it.each(['reset', 'hang', { status: 500 }] as const)(
    'stay in use while Google fails to give new ones (%j), and are requested every ten seconds',
    async (how: GoogleFault['how']) => {
      const keys = connect({ timeoutMs: 3_000 });
      const before = await known(keys);
      google.fail({ on: 'keys', how, times: 2 });
      time += 3_600_000;
      expect(await known(keys)).toEqual(before);
      expect(await known(keys)).toEqual(before);
      expect(fetches()).toBe(2);
      time += 10_000;
      await keys.rootKeys();
      time += 10_000;
      google.signer.rotate();
      await keys.rootKeys();
      expect(await known(keys)).toEqual(published());
      expect(fetches()).toBe(4);
    },
  );

  it('that were never received are a transient failure, and not requested at every callback', async () => {
    const keys = connect();
    google.fail({ on: 'keys', how: { status: 503 }, times: 1 });
    await expect(keys.rootKeys()).rejects.toMatchObject({ kind: 'transient', status: 503 });
    await expect(keys.rootKeys()).rejects.toMatchObject({ kind: 'transient', status: 503 });
    expect(fetches()).toBe(1);
    time += 10_000;
    expect(await known(keys)).toEqual(published());
  });
});
