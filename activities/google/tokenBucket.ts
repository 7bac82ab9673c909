// One bucket for all of Google's API: facts-wallets 5.6 gives 20 requests a second to the whole project, so slots are
// spaced evenly and no second of 1,000 ms ever holds more than `perSecond` of them, whichever worker uses them.
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

export interface TokenBucket {
  /** Resolves when this caller may send `n` requests (1). First come, first served within a process. */
  take: (n?: number) => Promise<void>;
}

export interface Clock {
  /** Milliseconds; only differences count. */
  now: () => number;
  sleep: (ms: number) => Promise<void>;
}

export interface TokenBucketOptions {
  perSecond?: number;
  /** Shares the bucket with every process that gives the same Redis and key. */
  redis?: Pick<Redis, 'status' | 'eval'>;
  key?: string;
  clock?: Clock;
  log?: Pick<Logger, 'warn' | 'info'>;
}

/** How long Redis may take to answer before this process counts for itself. */
const redisPatienceMs = 500;
/** How long it then goes on counting for itself before it asks Redis again. */
const redisPauseMs = 1_000;

const wallClock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.ceil(ms))),
};

/**
 * Books `ARGV[2]` slots, `ARGV[1]` microseconds apart, and says how many microseconds away the last one is. Redis' own
 * clock counts, so the workers' need not agree; a booking a minute ahead can only be a clock that jumped back.
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

export function createTokenBucket(options: TokenBucketOptions = {}): TokenBucket {
  const { perSecond = 18, redis, key = 'google:bucket', clock = wallClock, log } = options;
  const gapMicros = Math.ceil(1_000_000 / perSecond);
  const gapMs = gapMicros / 1_000;
  let freeAt = Number.NEGATIVE_INFINITY;
  let askRedisFrom = Number.NEGATIVE_INFINITY;
  let away = false;
  let queue: Promise<void> = Promise.resolve();

  function bookHere(n: number): number {
    const now = clock.now();
    const slot = Math.max(now, freeAt) + gapMs * (n - 1);
    freeAt = slot + gapMs;
    return slot - now;
  }

  async function bookInRedis(client: Pick<Redis, 'eval'>, n: number): Promise<number> {
    const answer = await withPatience(client.eval(bookSlots, 1, key, String(gapMicros), String(n)));
    const waitMs = Number(answer) / 1_000;
    if (!Number.isFinite(waitMs)) throw new Error('Redis did not answer with a number.');
    return waitMs;
  }

  async function book(n: number): Promise<number> {
    if (redis === undefined || clock.now() < askRedisFrom) return bookHere(n);
    try {
      if (redis.status !== 'ready') throw new Error(`Redis is ${redis.status}.`);
      const waitMs = await bookInRedis(redis, n);
      // Kept up to date for the moment when Redis goes away: falling back must not start with a burst.
      freeAt = Math.max(freeAt, clock.now() + waitMs + gapMs);
      if (away) log?.info('google.bucket.redis_back');
      away = false;
      return waitMs;
    } catch (error) {
      askRedisFrom = clock.now() + redisPauseMs;
      if (!away) log?.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'google.bucket.redis_away');
      away = true;
      return bookHere(n);
    }
  }

  async function waitForSlot(n: number): Promise<void> {
    const waitMs = await book(n);
    if (waitMs > 0) await clock.sleep(waitMs);
  }

  return {
    take(n = 1) {
      // One booking at a time: a process that dies leaves at most one slot unused, and each worker gets its turn.
      const turn = queue.then(() => waitForSlot(n));
      queue = turn.catch(() => {});
      return turn;
    },
  };
}

async function withPatience<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('Redis did not answer in time.')), redisPatienceMs);
  });
  try {
    return await Promise.race([answer, patience]);
  } finally {
    clearTimeout(timer);
    // A late failure of an answer that nobody waits for any more must not end the process.
    answer.catch(() => {});
  }
}
