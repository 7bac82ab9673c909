import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTokenBucket } from '../../activities/google/tokenBucket.js';
import { until } from '../../stack/until.js';
import { type RedisServer, startRedisServer } from '../rig/redisServer.js';
import { steadily } from '../rig/stalls.js';

let server: RedisServer;
let clients: Redis[] = [];
let lines: string[];

beforeEach(async () => {
  lines = [];
  server = await startRedisServer();
});
afterEach(async () => {
  for (const client of clients) client.disconnect();
  clients = [];
  await server.close();
});

async function worker(changes: { perSecond?: number } = {}) {
  const redis = new Redis(server.port, '127.0.0.1', { maxRetriesPerRequest: null });
  clients.push(redis);
  redis.on('error', () => {});
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
  const note = (...said: unknown[]) => void lines.push(JSON.stringify(said));
  return { redis, bucket: createTokenBucket({ redis, log: { info: note, warn: note }, ...changes }) };
}

async function takeAll(buckets: { take: () => Promise<void> }[], each: number): Promise<number[]> {
  const times: number[] = [];
  const began = performance.now();
  const take = (bucket: { take: () => Promise<void> }) =>
    bucket.take().then(() => times.push(performance.now() - began));
  await Promise.all(buckets.flatMap((bucket) => Array.from({ length: each }, () => take(bucket))));
  return times.sort((one, other) => one - other);
}

describe('the bucket of Google requests in Redis', () => {
  it(
    'is one for all workers',
    ...steadily(500, async () => {
      const workers = await Promise.all([worker(), worker(), worker()]);
      const times = await takeAll(
        workers.map(({ bucket }) => bucket),
        12,
      );
      expect(times).toHaveLength(36);
      expect(times.at(-1)).toBeGreaterThan(1_900);
      expect(server.commands.filter((name) => name === 'eval')).toHaveLength(36);
    }),
  );

  it('gives each worker its turn, however long the others wait', async () => {
    const [busy, late] = await Promise.all([worker(), worker()]);
    let taken = 0;
    const backlog = Array.from({ length: 18 }, () => busy.bucket.take().then(() => (taken += 1)));
    await late.bucket.take();
    expect(taken).toBeLessThan(9);
    await Promise.all(backlog);
  });

  it('is forgotten by Redis when nobody uses it', async () => {
    const { redis, bucket } = await worker();
    await bucket.take();
    await until(async () => (await redis.pttl('google:bucket')) === -2, 20, AbortSignal.timeout(60_000));
  });

  it(
    'is counted here at once while Redis is away, without a burst, and there again later',
    ...steadily(500, async () => {
      const { bucket } = await worker();
      await takeAll([bucket], 5);
      const { port } = server;
      await server.close();
      await new Promise((resolve) => setTimeout(resolve, 50));
      const times = await takeAll([bucket], 10);
      expect(times.at(-1)).toBeGreaterThan(8 * 55);
      expect(times.at(-1)).toBeLessThan(4_500);
      expect(lines).toEqual([expect.stringContaining('google.bucket.redis_away')]);

      server = await startRedisServer({ port });
      const isBack = () => bucket.take().then(() => lines.length > 1);
      await until(isBack, 20, AbortSignal.timeout(60_000));
      await bucket.take();
      expect(server.commands.filter((name) => name === 'eval')).toHaveLength(2);
      expect(lines).toHaveLength(2);
      expect(lines[1]).toContain('google.bucket.redis_back');
    }),
  );

  it('goes on here where it stopped there', async () => {
    const { bucket } = await worker({ perSecond: 1 });
    const began = performance.now();
    await bucket.take();
    await server.close();
    await bucket.take();
    expect(performance.now() - began).toBeGreaterThan(950);
    server = await startRedisServer();
  });

  it('does not wait for a Redis that has gone silent, but for half a second', async () => {
    const { bucket } = await worker();
    await bucket.take();
    server.hush();
    const times = await takeAll([bucket], 5);
    expect(times[0]).toBeGreaterThan(400);
  });

  it('recovers from a booking that a changed clock left far ahead', async () => {
    const { redis, bucket } = await worker();
    await redis.set('google:bucket', String((Date.now() + 3_600_000) * 1_000));
    const [first = Number.POSITIVE_INFINITY] = await takeAll([bucket], 1);
    expect(first).toBeLessThan(60_000);
  });
});
