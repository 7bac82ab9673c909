// The request pacer in Redis: one rate for all workers; in memory while Redis is unavailable.
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRequestPacer } from '../../../activities/wallets/google/requestPacer.client.js';
import { until } from '../../rig/checks/until.js';
import { type RedisServer, startRedisServer } from '../../rig/standins/redisServer.js';

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
  return { redis, pacer: createRequestPacer({ redis, log: { info: note, warn: note }, ...changes }) };
}

async function takeAll(buckets: { take: () => Promise<void> }[], each: number): Promise<number[]> {
  const times: number[] = [];
  const began = performance.now();
  const take = (pacer: { take: () => Promise<void> }) => pacer.take().then(() => times.push(performance.now() - began));
  await Promise.all(buckets.flatMap((pacer) => Array.from({ length: each }, () => take(pacer))));
  return times.sort((one, other) => one - other);
}

describe('the pacer of Google requests in Redis', () => {
  it('is shared by all workers', async () => {
    const workers = await Promise.all([worker(), worker(), worker()]);
    const pacers = workers.map(({ pacer }) => pacer);
    // While this process stands still, Redis seems to be unavailable; then all of it is done again.
    const times = await until(async () => {
      server.commands.length = 0;
      lines = [];
      const taken = await takeAll(pacers, 12);
      const evals = server.commands.filter((name) => name === 'eval');
      return evals.length === 36 && lines.length === 0 && taken;
    });
    expect(times).toHaveLength(36);
    expect(times.at(-1)).toBeGreaterThan(1_900);
  });

  it('serves each worker, however long the others wait', async () => {
    const [busy, late] = await Promise.all([worker(), worker()]);
    let taken = 0;
    const backlog = Array.from({ length: 18 }, () => busy.pacer.take().then(() => (taken += 1)));
    await late.pacer.take();
    expect(taken).toBeLessThan(9);
    await Promise.all(backlog);
  });

  it('is removed from Redis when it is not used', async () => {
    const { redis, pacer } = await worker();
    await pacer.take();
    await until(async () => (await redis.pttl('google:pacer')) === -2, { everyMs: 20, throwingIsNo: true });
  });

  it('is kept in memory while Redis is unavailable, without a burst, and in Redis again later', async () => {
    const { pacer } = await worker();
    await takeAll([pacer], 5);
    const { port } = server;
    await server.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const times = await takeAll([pacer], 10);
    expect(times.at(-1)).toBeGreaterThan(8 * 55);
    expect(times.at(-1)).toBeLessThan(4_500);
    expect(lines).toEqual([expect.stringContaining('google.pacer.redis_unavailable')]);

    server = await startRedisServer({ port });
    let takes = 0;
    const take = () => {
      takes += 1;
      return pacer.take();
    };
    await until(() => take().then(() => lines.length > 1), { everyMs: 20, throwingIsNo: true });
    await take();
    const evals = server.commands.filter((name) => name === 'eval').length;
    expect(evals).toBeGreaterThanOrEqual(2);
    expect(evals).toBeLessThanOrEqual(takes);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('google.pacer.redis_available');
  });

  it('continues in memory where it stopped in Redis', async () => {
    const { pacer } = await worker({ perSecond: 1 });
    const began = performance.now();
    await pacer.take();
    await server.close();
    await pacer.take();
    expect(performance.now() - began).toBeGreaterThan(950);
    server = await startRedisServer();
  });

  it('waits for a silent Redis for half a second only', async () => {
    const { pacer } = await worker();
    await pacer.take();
    server.hush();
    const times = await takeAll([pacer], 5);
    expect(times[0]).toBeGreaterThan(400);
  });

  it('recovers from a booking far in the future that a changed clock left', async () => {
    const { redis, pacer } = await worker();
    await redis.set('google:pacer', String((Date.now() + 3_600_000) * 1_000));
    const [first = Number.POSITIVE_INFINITY] = await takeAll([pacer], 1);
    expect(first).toBeLessThan(60_000);
  });
});
