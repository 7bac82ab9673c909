// The common alternative as a yardstick: a Redis queue with BullMQ, its worker in its own process, a signed POST for
// each job and a row in the same database for each delivery.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { findOnPath } from '../../stack/engines/onPath.js';
import { accepts, findPort } from '../../stack/ports.js';
import { until } from '../../stack/until.js';
import type { Bench } from './bench.js';
import { startChild } from './child.js';
import type { Drain } from './queueSenderProcess.js';

export interface QueueSender {
  /** Queues these bodies. Returns the seconds until all of them were sent and logged. */
  drain: (bodies: readonly string[], options?: { logs?: boolean }) => Promise<number>;
  close: () => Promise<void>;
}

const name = 'deliveries';

/** Null when no redis-server is installed. */
export async function startQueueSender(bench: Bench, url: string): Promise<QueueSender | null> {
  const program = findOnPath('redis-server', process.env);
  if (program === undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-bench-redis-'));
  const port = await findPort('127.0.0.1');
  bench.processes.onEnded(() => rmSync(folder, { recursive: true, force: true }));
  bench.processes.add(
    spawn(
      program,
      ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', ''],
      { stdio: 'ignore', detached: true },
    ),
  );
  await until(() => accepts('127.0.0.1', port), 20, AbortSignal.timeout(10_000));
  const { config } = bench.deps;
  const args = [name, String(port), url, config.MONGODB_URI, config.MONGODB_DATABASE];
  const { child } = await startChild(bench.processes, 'queueSenderProcess.ts', args);
  const queue = new Queue(name, { connection: { host: '127.0.0.1', port } });
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
