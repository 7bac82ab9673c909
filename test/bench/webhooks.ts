// Bulk deliveries: the time until a backlog of events is sent and logged, compared with signed POSTs alone and with a
// sender whose backlog is in Redis.
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { newMemberEvent } from '../../activities/events/newEvent.rules.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { envelopeBytes } from '../../schemas/events/events.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { newId } from '../../schemas/shared/ids.js';
import { type Bench, settled } from './bench.js';
import { closedLoop } from './load.js';
import { addMembers, aMerchant, type BenchMerchant } from './merchant.js';
import { added, cpuMeter, memoryOf, perThousand } from './processes.js';
import { startQueueSender } from './queueSender.js';
import { type BenchReceiver, startReceiver, subscribe } from './receiver.js';
import { notCompared, type PerProcess, type Row, ratiosOf, round } from './row.js';

const callers = 64;
const insertedTogether = 500;
const loggedWithinMs = 60_000;

export function changeOf(bench: Pick<Bench, 'deps'>, member: MemberRow, dueAt: Date): EventRow {
  const event = newMemberEvent(bench.deps, {
    eventId: newId(),
    event: {
      type: 'points.changed',
      data: { field: 'points', previous: 0, current: 1, delta: 1, actor: { type: 'api-key', id: 'bench' } },
    },
    member,
    leaseOwner: null,
  });
  return { ...event, dueAt };
}

/** Writes events that become due at `dueAt`, so that all of them exist when the relay starts. */
export async function addBacklog(bench: Bench, members: readonly MemberRow[], count: number): Promise<Date> {
  const dueAt = new Date(Date.now() + 2_000 + count);
  for (let at = 0; at < count; at += insertedTogether) {
    const some = Array.from(
      { length: Math.min(insertedTogether, count - at) },
      (_, index) => members[(at + index) % members.length],
    );
    await bench.deps.collections.events.insertMany(
      some.flatMap((member) => (member ? [changeOf(bench, member, dueAt)] : [])),
      { ordered: false },
    );
  }
  if (Date.now() > dueAt.getTime()) throw new Error('The backlog was not written before it was due.');
  return dueAt;
}

export interface Backlogged {
  merchant: Pick<BenchMerchant, 'id'>;
  members: readonly MemberRow[];
  receiver: BenchReceiver;
  /** Of the merchant; each gets all events. */
  subscriptions?: number;
}

/**
 * Delivers a backlog of that many events. Returns the deliveries a second, and the processor seconds since the backlog
 * was due. Throws when one is not received or not logged.
 */
export async function deliverBacklog(
  bench: Bench,
  { merchant, members, receiver, subscriptions = 1 }: Backlogged,
  events: number,
): Promise<{ rate: number; cpu: PerProcess }> {
  await receiver.since();
  const dueAt = await addBacklog(bench, members, events);
  await sleep(dueAt.getTime() - Date.now());
  const used = cpuMeter(bench.pids);
  await settled(bench);
  const count = events * subscriptions;
  const countLogged = () =>
    bench.deps.collections.deliveries.countDocuments({
      merchantId: merchant.id,
      success: true,
      createdAt: { $gte: dueAt },
    });
  // Under load a delivery may be logged after its event was published.
  const deadline = performance.now() + loggedWithinMs;
  let logged = await countLogged();
  while (logged < count && performance.now() < deadline) {
    await sleep(50);
    logged = await countLogged();
  }
  const seconds = (Date.now() - dueAt.getTime()) / 1_000;
  const { count: received } = await receiver.since();
  if (logged < count || received < count) throw new Error(`Of ${count}, ${received} came and ${logged} were logged.`);
  return { rate: count / seconds, cpu: used() };
}

/** Signed POSTs of an event by undici alone. */
export function barePosts({ url, body }: { url: string; body: Buffer }) {
  const agent = new Agent({ connections: callers });
  const { origin, pathname: path } = new URL(url);
  const post = async () => {
    const signature = createHmac('sha256', 'x'.repeat(44))
      .update(`${new Date().toISOString()}.`)
      .update(body)
      .digest('hex');
    const headers = { 'content-type': 'application/json', 'x-signature': `sha256=${signature}` };
    const answer = await agent.request({ origin, path, method: 'POST', headers, body });
    await answer.body.dump();
  };
  return { measure: (ms: number) => closedLoop({ callers, ms }, post), close: () => agent.close() };
}

/** The body of an event of the service. */
export function sampleBody(bench: Pick<Bench, 'deps'>, [member]: readonly MemberRow[]): Buffer {
  if (!member) throw new Error('There are no members.');
  const sample = changeOf(bench, member, new Date());
  return Buffer.from(envelopeBytes({ ...sample, eventId: sample._id }));
}

export interface WebhooksSize {
  rounds: number;
  /** Events of each round. */
  backlog: number;
  postsMs: number;
}

export async function benchWebhooks(bench: Bench, { rounds, backlog, postsMs }: WebhooksSize): Promise<Row[]> {
  const receiver = await startReceiver(bench);
  const merchant = await aMerchant(bench);
  await subscribe(merchant, receiver.url);
  const members = await addMembers(bench, { program: merchant.program, count: 200 });
  const started = await startQueueSender(bench, receiver.url);
  const queue = typeof started === 'string' ? undefined : started;
  const body = sampleBody(bench, members);
  const posts = barePosts({ url: receiver.url, body });
  let cpu: PerProcess = {};
  const ours = async (count: number): Promise<number> => {
    const delivered = await deliverBacklog(bench, { merchant, members, receiver }, count);
    cpu = added(cpu, delivered.cpu);
    return delivered.rate;
  };

  await ours(500);
  await queue?.drain(Array.from({ length: 500 }, () => body.toString()));
  await posts.measure(500);
  cpu = {};
  const rates: Record<'ours' | 'queue' | 'unlogged' | 'posts', number[]> = {
    ours: [],
    queue: [],
    unlogged: [],
    posts: [],
  };
  const bodies = Array.from({ length: backlog }, () => body.toString());
  for (let index = 0; index < rounds; index += 1) {
    rates.ours.push(await ours(backlog));
    if (queue) {
      rates.queue.push(backlog / (await queue.drain(bodies)));
      rates.unlogged.push(backlog / (await queue.drain(bodies, { logs: false })));
    }
    rates.posts.push((await posts.measure(postsMs)).rate);
  }
  const memory = memoryOf(bench.pids);
  await Promise.all([queue?.close(), posts.close(), merchant.close()]);
  await receiver.stop();

  const mine = Math.max(...rates.ours);
  const beside = (scenario: string, goal: string, theirs: readonly number[]): Row => {
    const rate = Math.max(0, ...theirs);
    const ratios = ratiosOf(theirs.map((one, index) => (rates.ours[index] ?? 0) / one));
    return {
      scenario,
      ours: round(mine),
      yardstick: rate > 0 ? round(rate) : null,
      ratio: rate > 0 ? round(mine / rate) : null,
      ...(ratios && { ratios }),
      unit: 'deliveries/s',
      goal,
    };
  };
  return [
    {
      ...beside('deliveries logged, in bulk; BullMQ on Redis with a row for each', '> 1', rates.queue),
      ...(queue ? { reached: mine > Math.max(...rates.queue) } : { note: notCompared(String(started)) }),
      cpu: perThousand(cpu, backlog * rounds),
      memory,
    },
    beside('the same; BullMQ on Redis without a row', 'none', rates.unlogged),
    beside('the same; undici POSTs with HMAC alone', 'none', rates.posts),
  ];
}
