// Google's root keys are fetched when their cache time is over, never because a signature was bad: whoever posts forged
// callbacks must not make this service call Google (facts-wallets 5.8).
import { z } from 'zod';
import { type GoogleRootKey, rootKey } from './callback.js';
import { errorOfAnswer, GoogleWalletError, toGoogleWalletError } from './googleWalletError.js';

export interface CallbackKeys {
  /**
   * The keys that Google gave last, expired ones among them. Throws GoogleWalletError (transient) while none could ever
   * be fetched.
   */
  rootKeys: () => Promise<GoogleRootKey[]>;
}

export interface CallbackKeysOptions {
  url: string;
  fetch?: (url: string, init: { signal: AbortSignal }) => Promise<Response>;
  clock?: { now: () => number };
  timeoutMs?: number;
}

/** No two fetches are nearer than this, whatever the cache headers and however many callbacks. */
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
      // Google's old keys stay good until they expire, so a fetch that fails changes nothing but the next try.
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

/** As long as Cache-Control allows, but not past the first expiry of a key that is still good. */
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
