import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTokenBucket } from '../../activities/google/tokenBucket.js';
import { type RedisServer, startRedisServer } from '../rig/redisServer.js';

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

/** Timers are late by some milliseconds, so a second is taken as a little less. */
const busiestSecond = (times: number[]) =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 980).length));

describe('the bucket of Google requests in Redis', () => {
  it('is one for all workers', async () => {
    const workers = await Promise.all([worker(), worker(), worker()]);
    const times = await takeAll(
      workers.map(({ bucket }) => bucket),
      12,
    );
    expect(times).toHaveLength(36);
    expect(times.at(-1)).toBeGreaterThan(1_900);
    expect(busiestSecond(times)).toBeLessThanOrEqual(18);
    expect(server.commands.filter((name) => name === 'eval')).toHaveLength(36);
  });

  it('gives each worker its turn, however long the others wait', async () => {
    const [busy, late] = await Promise.all([worker(), worker()]);
    const backlog = Array.from({ length: 18 }, () => busy.bucket.take());
    const began = performance.now();
    await late.bucket.take();
    expect(performance.now() - began).toBeLessThan(500);
    await Promise.all(backlog);
  });

  it('is forgotten by Redis when nobody uses it', async () => {
    const { redis, bucket } = await worker();
    await bucket.take();
    expect(await redis.pttl('google:bucket')).toBeGreaterThan(0);
    expect(await redis.pttl('google:bucket')).toBeLessThanOrEqual(1_100);
  });

  it('is counted here at once while Redis is away, without a burst, and there again later', async () => {
    const { redis, bucket } = await worker();
    await takeAll([bucket], 5);
    const { port } = server;
    await server.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const times = await takeAll([bucket], 10);
    expect(times.at(-1)).toBeGreaterThan(8 * 55);
    expect(times.at(-1)).toBeLessThan(1_500);
    expect(lines).toEqual([expect.stringContaining('google.bucket.redis_away')]);

    server = await startRedisServer({ port });
    while (redis.status !== 'ready') await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await takeAll([bucket], 2);
    expect(server.commands.filter((name) => name === 'eval')).toHaveLength(2);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('google.bucket.redis_back');
  });

  it('goes on here where it stopped there', async () => {
    const { bucket } = await worker({ perSecond: 1 });
    await bucket.take();
    await server.close();
    const [first] = await takeAll([bucket], 1);
    expect(first).toBeGreaterThan(850);
    server = await startRedisServer();
  });

  it('does not wait for a Redis that has gone silent, but for half a second', async () => {
    const { bucket } = await worker();
    await bucket.take();
    server.hush();
    const times = await takeAll([bucket], 5);
    expect(times[0]).toBeGreaterThan(400);
    expect(times.at(-1)).toBeLessThan(1_500);
  });

  it('recovers from a booking that a changed clock left far ahead', async () => {
    const { redis, bucket } = await worker();
    await redis.set('google:bucket', String((Date.now() + 3_600_000) * 1_000));
    const [first = Number.POSITIVE_INFINITY] = await takeAll([bucket], 1);
    expect(first).toBeLessThan(500);
  });
});
