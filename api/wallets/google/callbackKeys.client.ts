// Caches Google's root keys. Keys are fetched when their cache time is over and never because a signature is invalid:
// forged callbacks must not cause requests to Google (docs/protocols/google-wallet.md#7-callbacks).
import { z } from 'zod';
import {
  errorOfAnswer,
  GoogleWalletError,
  toGoogleWalletError,
} from '../../../activities/wallets/google/googleWalletError.rules.js';
import { type GoogleRootKey, rootKey } from './callback.rules.js';

export interface CallbackKeys {
  /**
   * The keys of the last successful fetch, including expired ones. Throws GoogleWalletError (transient) until a fetch
   * has succeeded.
   */
  rootKeys: () => Promise<GoogleRootKey[]>;
}

export interface CallbackKeysOptions {
  url: string;
  fetch?: (url: string, init: { signal: AbortSignal }) => Promise<Response>;
  clock?: { now: () => number };
  timeoutMs?: number;
}

/** The shortest time between two fetches, regardless of the cache headers and the number of callbacks. */
const shortestCacheMs = 10_000;
const longestCacheMs = 24 * 3_600_000;

const keySet = z.object({ keys: z.array(rootKey).min(1) });

export function createCallbackKeys(options: CallbackKeysOptions): CallbackKeys {
  const { url, fetch = globalThis.fetch, clock = { now: () => Date.now() }, timeoutMs = 10_000 } = options;
  let keys: GoogleRootKey[] | undefined;
  let failure: GoogleWalletError | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    const at = clock.now();
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
      if (!response.ok) throw errorOfAnswer(response.status, await response.text());
      const given = keySet.parse(await response.json()).keys;
      keys = given;
      failure = undefined;
      freshUntil = at + cacheMs(response.headers, given, at);
    } catch (thrown) {
      // Google's old keys are valid until they expire, so a failed fetch only means another fetch after
      // `shortestCacheMs`.
      failure = unavailable(thrown);
      freshUntil = at + shortestCacheMs;
    }
  }

  return {
    async rootKeys() {
      if (clock.now() >= freshUntil) {
        fetching ??= refresh().finally(() => {
          fetching = undefined;
        });
        await fetching;
      }
      if (keys === undefined) throw failure ?? unavailable(undefined);
      return keys;
    },
  };
}

/**
 * The time that Cache-Control allows, but not beyond the first expiry of a valid key; between `shortestCacheMs` and
 * `longestCacheMs`.
 */
function cacheMs(headers: Headers, keys: GoogleRootKey[], now: number): number {
  const control = headers.get('cache-control') ?? '';
  const maxAge = /\bmax-age=(\d{1,9})\b/i.exec(control)?.[1] ?? '0';
  const age = /^\d{1,9}$/.exec(headers.get('age') ?? '')?.[0] ?? '0';
  const allowed = /\bno-(?:store|cache)\b/i.test(control) ? 0 : (Number(maxAge) - Number(age)) * 1_000;
  const expiries = keys.flatMap(({ keyExpiration = 0 }) => (keyExpiration > now ? [keyExpiration - now] : []));
  return Math.max(shortestCacheMs, Math.min(longestCacheMs, allowed, ...expiries));
}

function unavailable(thrown: unknown): GoogleWalletError {
  const { status, reason } = toGoogleWalletError(thrown);
  const message = `Google's callback keys cannot be had: ${reason}.`;
  return new GoogleWalletError({ kind: 'transient', status, reason, message });
}
