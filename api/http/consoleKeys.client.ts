// The public keys of a console that signs its own tokens. They are cached for as long as the console's cache headers
// allow, and stay in use while they cannot be fetched again. A token that names an unknown key causes a fetch at most
// once in 30 s, so forged tokens cause no load at the console. Not jose's createRemoteJWKSet, which ignores those
// headers and refuses tokens while keys cannot be fetched again.
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Logger } from 'pino';
import { ServiceError } from '../../schemas/shared/errors.js';

export interface ConsoleKeysOptions {
  url: string;
  log: Pick<Logger, 'warn'>;
  fetch?: (url: string, init: { signal: AbortSignal }) => Promise<Response>;
  /** Milliseconds since 1970. */
  now?: () => number;
}

const timeoutMs = 2_000;
const cooldownMs = 30_000;
/** Without `max-age` the keys are kept for ten minutes, as most libraries do. */
const defaultCacheMs = 600_000;
const longestCacheMs = 24 * 3_600_000;

/** The returned function throws UNAVAILABLE while the key of a token cannot be looked up. */
export function createConsoleKeys({
  url,
  log,
  fetch = globalThis.fetch,
  now = Date.now,
}: ConsoleKeysOptions): JWTVerifyGetKey {
  let keys: JWTVerifyGetKey | undefined;
  let failed = false;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    fetchedAt = now();
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
      if (!response.ok) throw new Error(`The console answered ${response.status} for its keys.`);
      keys = createLocalJWKSet((await response.json()) as JSONWebKeySet);
      freshUntil = fetchedAt + cacheMs(response.headers);
      failed = false;
    } catch (error) {
      freshUntil = fetchedAt + cooldownMs;
      failed = true;
      log.warn({ err: error }, "the console's keys could not be fetched");
    }
  }
  const fetchOnce = () => {
    fetching ??= refresh().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };

  return async function keyOf(header, token) {
    // Without keys, every token waits for a running fetch. With keys, only expired keys are waited for.
    if (now() >= freshUntil || (!keys && fetching)) await fetchOnce();
    for (;;) {
      if (!keys) throw new ServiceError('UNAVAILABLE');
      try {
        return await keys(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        if (now() - fetchedAt < cooldownMs && !fetching) throw failed ? new ServiceError('UNAVAILABLE') : error;
        await fetchOnce();
      }
    }
  };
}

/** How long the answer may be kept: at least as long as the time between two fetches, and a day at most. */
function cacheMs(headers: Headers): number {
  const control = headers.get('cache-control') ?? '';
  if (/\bno-(?:store|cache)\b/i.test(control)) return cooldownMs;
  const maxAge = /\bmax-age=(\d{1,9})\b/i.exec(control)?.[1];
  const age = /^\d{1,9}$/.exec(headers.get('age') ?? '')?.[0] ?? '0';
  const allowed = maxAge === undefined ? defaultCacheMs : (Number(maxAge) - Number(age)) * 1_000;
  return Math.min(Math.max(allowed, cooldownMs), longestCacheMs);
}
