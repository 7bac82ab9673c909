// Rate limits with fixed windows (docs/interface.md#82-rate-limits). The counts are kept in Redis when it is
// configured, and in the memory of this process while Redis is unavailable or not configured. Each kind of caller has
// its own count, so a valid key works while the limit of its IP address is exceeded.
import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../schemas/shared/config.schema.js';

export interface RequestCount {
  limit: number;
  remaining: number;
  /** Seconds until the window resets, rounded up. */
  resetSeconds: number;
  exceeded: boolean;
}

export type LimitKind =
  | 'authenticated'
  | 'public'
  | 'failed'
  | 'program'
  /** The requests of phones and of cards in browsers: by pass, device, or address. */
  | 'walletCalls'
  | 'registrations'
  | 'deviceLogs';

/**
 * The enrollments that a public program accepts from all addresses together, as a multiple of the limit of one IP
 * address.
 */
const addressesAProgram = 100;

export interface Limits {
  /** `most` in place of the limit of the settings. */
  count: (kind: LimitKind, key: string, most?: number) => Promise<RequestCount>;
  /** False while Redis is configured and unavailable. */
  healthy: () => boolean;
  close: () => Promise<void>;
}

export function createLimits({ config, log }: { config: Config; log: Logger }): Limits {
  const redis = config.REDIS_URL ? connectRedis(config.REDIS_URL, log) : undefined;
  const duration = config.RATE_LIMIT_WINDOW_MS / 1000;
  const bounds: Record<LimitKind, { points: number; duration: number }> = {
    authenticated: { points: config.RATE_LIMIT_AUTHENTICATED, duration },
    public: { points: config.RATE_LIMIT_PUBLIC, duration },
    failed: { points: config.RATE_LIMIT_PUBLIC, duration },
    program: { points: config.RATE_LIMIT_PUBLIC * addressesAProgram, duration },
    walletCalls: { points: config.WALLET_CALLS_PER_ADDRESS, duration: 60 },
    registrations: { points: config.WALLET_REGISTRATIONS_PER_PASS, duration: 60 },
    deviceLogs: { points: config.WALLET_LOG_LINES_PER_PASS, duration: 3_600 },
  };
  const limiterOf = (kind: LimitKind) => {
    const options = { keyPrefix: `lps:limit:${kind}`, ...bounds[kind] };
    const memory = new RateLimiterMemory(options);
    if (!redis) return memory;
    return new RateLimiterRedis({
      ...options,
      storeClient: redis,
      insuranceLimiter: memory,
      rejectIfRedisNotReady: true,
    });
  };
  const limiters: Record<LimitKind, RateLimiterMemory | RateLimiterRedis> = {
    authenticated: limiterOf('authenticated'),
    public: limiterOf('public'),
    failed: limiterOf('failed'),
    program: limiterOf('program'),
    walletCalls: limiterOf('walletCalls'),
    registrations: limiterOf('registrations'),
    deviceLogs: limiterOf('deviceLogs'),
  };

  return {
    async count(kind, key, most = bounds[kind].points) {
      const limiter = limiters[kind];
      const result = await limiter.consume(key).catch((rejection: unknown) => {
        if (rejection instanceof RateLimiterRes) return rejection;
        throw rejection;
      });
      return {
        limit: most,
        remaining: Math.max(most - result.consumedPoints, 0),
        resetSeconds: Math.max(Math.ceil(result.msBeforeNext / 1000), 1),
        exceeded: result.consumedPoints > most,
      };
    },
    healthy: () => !redis || redis.status === 'ready',
    async close() {
      redis?.disconnect();
    },
  };
}

function connectRedis(url: string, log: Logger): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: 500,
  });
  let present = true;
  redis.on('error', (error) => {
    if (present) log.warn({ err: error }, 'Redis is unavailable; limits are counted in memory');
    present = false;
  });
  redis.on('ready', () => {
    if (!present) log.info('Redis is available again');
    present = true;
  });
  return redis;
}
