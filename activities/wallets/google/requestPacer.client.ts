// Spaces the requests to Google's API evenly over all workers. Google allows the whole project 20 requests a second
// (docs/protocols/google-wallet.md#5-errors-and-limits). Slots are spaced evenly, so no period of 1,000 ms holds more
// than `perSecond` of them. Without Redis, or while it is unavailable, each process limits only its own requests.
// Not p-throttle or rate-limiter-flexible: they send a second's requests at once, the latter two seconds' in a row.
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { within } from '../../../platform/within.js';

export interface RequestPacer {
  /** Resolves when the caller may send `n` requests (default 1). First come, first served within one process. */
  take: (n?: number) => Promise<void>;
}

export interface Clock {
  /** Milliseconds; only differences matter. */
  now: () => number;
  sleep: (ms: number) => Promise<void>;
}

export interface RequestPacerOptions {
  perSecond?: number;
  /** All processes with the same Redis share the rate. */
  redis?: Pick<Redis, 'status' | 'eval'>;
  clock?: Clock;
  log?: Pick<Logger, 'warn' | 'info'>;
}

const redisKey = 'google:pacer';
/** How long Redis may take to answer before this process assigns slots itself. */
const redisTimeoutMs = 500;
/** How long this process then assigns slots itself before it tries Redis again. */
const redisCooldownMs = 1_000;

const wallClock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.ceil(ms))),
};

/**
 * Reserves `ARGV[2]` slots, `ARGV[1]` microseconds apart, and returns the microseconds until the last one. Uses the
 * clock of Redis, so the clocks of the workers need not agree. A reservation more than a minute ahead is from before a
 * clock was set back, and is dropped.
 */
const bookSlots = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local gap = tonumber(ARGV[1])
local free = tonumber(redis.call('GET', KEYS[1]) or '0')
if free < now or free > now + 60000000 then free = now end
local slot = free + gap * (tonumber(ARGV[2]) - 1)
redis.call('SET', KEYS[1], string.format('%.0f', slot + gap), 'PX', string.format('%.0f', math.ceil((slot + gap - now) / 1000) + 1000))
return string.format('%.0f', slot - now)
`;

export function createRequestPacer(options: RequestPacerOptions = {}): RequestPacer {
  const { perSecond = 18, redis, clock = wallClock, log } = options;
  const gapMicros = Math.ceil(1_000_000 / perSecond);
  const gapMs = gapMicros / 1_000;
  let freeAt = Number.NEGATIVE_INFINITY;
  let askRedisFrom = Number.NEGATIVE_INFINITY;
  let unavailable = false;
  let queue: Promise<void> = Promise.resolve();

  function bookHere(n: number): number {
    const now = clock.now();
    const slot = Math.max(now, freeAt) + gapMs * (n - 1);
    freeAt = slot + gapMs;
    return slot - now;
  }

  async function bookInRedis(client: Pick<Redis, 'eval'>, n: number): Promise<number> {
    const asked = client.eval(bookSlots, 1, redisKey, String(gapMicros), String(n));
    const answer = await within(asked, { ms: redisTimeoutMs, fallback: undefined });
    if (answer === undefined) throw new Error('Redis did not answer in time.');
    const waitMs = Number(answer) / 1_000;
    if (!Number.isFinite(waitMs)) throw new Error('Redis did not answer with a number.');
    return waitMs;
  }

  async function book(n: number): Promise<number> {
    if (redis === undefined || clock.now() < askRedisFrom) return bookHere(n);
    try {
      if (redis.status !== 'ready') throw new Error(`Redis is ${redis.status}.`);
      const waitMs = await bookInRedis(redis, n);
      // Keeps the local slot up to date, so that this process sends no burst when Redis becomes unavailable.
      freeAt = Math.max(freeAt, clock.now() + waitMs + gapMs);
      if (unavailable) log?.info('google.pacer.redis_available');
      unavailable = false;
      return waitMs;
    } catch (error) {
      askRedisFrom = clock.now() + redisCooldownMs;
      if (!unavailable)
        log?.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'google.pacer.redis_unavailable');
      unavailable = true;
      return bookHere(n);
    }
  }

  async function waitForSlot(n: number): Promise<void> {
    const waitMs = await book(n);
    if (waitMs > 0) await clock.sleep(waitMs);
  }

  return {
    take(n = 1) {
      // One reservation at a time: a process that dies leaves at most one reservation unused, and workers take turns.
      const booking = queue.then(() => waitForSlot(n));
      queue = booking.catch(() => {});
      return booking;
    },
  };
}
