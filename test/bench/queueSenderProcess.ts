// The worker of the queue sender. For each count that it receives, it works until that many jobs are done and answers
// with the duration in seconds.
import { createHmac, randomUUID } from 'node:crypto';
import { Worker } from 'bullmq';
import { MongoClient } from 'mongodb';
import { Agent } from 'undici';

export interface Drain {
  count: number;
  /** Whether a row is written for each delivery. */
  logs: boolean;
}

const [name = '', port = '', url = '', mongodbUri = '', database = ''] = process.argv.slice(2);
const concurrency = 64;
const secret = 'x'.repeat(44);

const agent = new Agent({ connections: concurrency });
const mongo = new MongoClient(mongodbUri, { writeConcern: { w: 'majority', journal: true }, maxPoolSize: concurrency });
const deliveries = mongo.db(database).collection<{ _id: string }>('benchQueueDeliveries');
const { origin, pathname: path } = new URL(url);

let done = 0;
let wanted = 0;
let startedAt = 0;
let logs = true;

async function deliver(body: string): Promise<void> {
  const at = new Date();
  const signature = createHmac('sha256', secret).update(`${at.toISOString()}.${body}`).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-signature': `sha256=${signature}` };
  const answer = await agent.request({ origin, path, method: 'POST', headers, body });
  await answer.body.dump();
  if (!logs) return;
  const row = { _id: randomUUID(), url, at, body, statusCode: answer.statusCode, attempts: 1, createdAt: at };
  await deliveries.insertOne(row);
}

const worker = new Worker<{ body: string }>(
  name,
  async (job) => {
    await deliver(job.data.body);
    done += 1;
    if (done === wanted) {
      await worker.pause(true);
      process.send?.((performance.now() - startedAt) / 1_000);
    }
  },
  { connection: { host: '127.0.0.1', port: Number(port) }, concurrency, autorun: false },
);
let isRunning = false;
process.on('message', (message) => {
  const asked = message as Drain;
  logs = asked.logs;
  // The counter is not reset: a paused worker may take one job of the next backlog before it is resumed.
  wanted += asked.count;
  startedAt = performance.now();
  if (isRunning) void worker.resume();
  else void worker.run();
  isRunning = true;
});
process.once('SIGTERM', () => process.exit(0));
process.once('disconnect', () => process.exit(0));
await worker.waitUntilReady();
await mongo.connect();
process.send?.('ready');
