// The common alternative as a yardstick: a Redis queue with BullMQ, its worker in its own process, a signed POST for
// each job and a row in the same database for each delivery.
import { Queue } from 'bullmq';
import type { Bench } from './bench.js';
import { startChild } from './child.js';
import type { Drain } from './queueSenderProcess.js';
import { reasonOf } from './row.js';
import { startRedis } from './stores.js';

export interface QueueSender {
  /** Queues these bodies. Returns the seconds until all of them were sent and logged. */
  drain: (bodies: readonly string[], options?: { logs?: boolean }) => Promise<number>;
  close: () => Promise<void>;
}

const name = 'deliveries';

/** Returns the reason when Redis is not installed or does not start. */
export async function startQueueSender(bench: Bench, url: string): Promise<QueueSender | string> {
  const redis = await startRedis(bench.processes).catch(reasonOf);
  if (typeof redis === 'string') return redis;
  const { port } = new URL(redis.address);
  const { config } = bench.deps;
  const args = [name, port, url, config.MONGODB_URI, config.MONGODB_DATABASE];
  const { child } = await startChild(bench.processes, 'queueSenderProcess.ts', args);
  const queue = new Queue(name, { connection: { host: '127.0.0.1', port: Number(port) } });
  // A bench that is stopped ends Redis before its clients.
  queue.on('error', () => {});
  return {
    async drain(bodies, { logs = true } = {}) {
      const together = 500;
      for (let at = 0; at < bodies.length; at += together)
        await queue.addBulk(
          bodies.slice(at, at + together).map((body) => ({
            name: 'deliver',
            data: { body },
            opts: { attempts: 8, removeOnComplete: true },
          })),
        );
      // The process sends no other answer.
      const asked: Drain = { count: bodies.length, logs };
      return (await child.ask(asked)) as number;
    },
    async close() {
      await queue.close();
      await child.stop();
    },
  };
}
