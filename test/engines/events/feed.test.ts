// The feed: every event once, in the same order for all readers, and never before a cursor that was handed out.

import fc from 'fast-check';
import { Binary } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFeed } from '../../../api/events/feed.reads.js';
import { type ClosableDeps, createDeps } from '../../../platform/createDeps.js';
import { removeAll } from '../../../platform/mongodb/updateMany.js';
import type { EventRow } from '../../../schemas/events/events.rows.js';
import type { EventType } from '../../../schemas/events/events.schema.js';
import { newId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
/** The dependencies of another process; only the database is shared with the service. */
let elsewhere: ClosableDeps;

beforeAll(async () => {
  service = await startService();
  elsewhere = createDeps({ config: service.deps.config, log: service.deps.log, timeouts: 'tool' });
});
afterAll(async () => {
  await elsewhere.close();
  await service.stop();
});

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Reads pages until there are no more events. */
async function readOn(merchant: TestMerchant, from?: string, query = ''): Promise<{ ids: string[]; cursor: string }> {
  const ids: string[] = [];
  let cursor = from;
  for (;;) {
    const { body } = await merchant.call(
      `/merchants/me/events?${new URLSearchParams({ ...(cursor && { after: cursor }) })}${query}`,
    );
    ids.push(...body.data.items.map((item: { eventId: string }) => item.eventId));
    cursor = body.data.cursor;
    if (!body.data.more) return { ids, cursor: body.data.cursor };
  }
}

function frozenEvent(merchantId: string, fields: Partial<EventRow> = {}): EventRow {
  const _id = newId();
  return {
    _id,
    merchantId,
    type: 'points.changed',
    occurredAt: new Date(),
    data: {},
    state: 'published',
    leaseOwner: '',
    dueAt: new Date(),
    shard: 0,
    sequence: 0,
    envelope: new Binary(Buffer.from(JSON.stringify({ eventId: _id }))),
    ...fields,
  };
}

describe('the feed', () => {
  let merchant: TestMerchant;
  let receiver: Receiver;

  beforeAll(async () => {
    merchant = await aMerchant(service);
    receiver = await startReceiver();
    await merchant.call('/merchants/me/webhooks', { body: { url: receiver.url, events: ['*'] } });
  });
  afterAll(() => receiver.stop());

  it('holds the same envelopes as the webhooks, and later events come after the cursor', async () => {
    const member = await merchant.enroll({ firstName: 'Ada', email: 'ada@example.com' });
    await receiver.waitFor((requests) => requests.length >= 3);
    const page = await until(async () => {
      const { body } = await merchant.call('/merchants/me/events');
      return body.data.items.length === 3 && body.data;
    });
    const published = new Set(receiver.requests.map((request) => request.body.toString('utf8')));
    expect(new Set(page.items.map((item: unknown) => JSON.stringify(item)))).toEqual(published);

    await merchant.call(`/merchants/me/members/${member.id}/points`, { method: 'PATCH', body: { delta: 5 } });
    await merchant.call(`/merchants/me/members/${member.id}/push`, { method: 'POST' });
    await merchant.call('/merchants/me/scans', { body: { code: member.memberCode } });
    await receiver.waitFor((requests) => requests.length >= 5);
    const next = await until(async () => {
      const { body } = await merchant.call(`/merchants/me/events?after=${page.cursor}`);
      return body.data.items.length === 2 && body.data;
    });
    expect(next.items.map((item: { event: string }) => item.event).sort()).toEqual(['pass.scanned', 'points.changed']);
    expect(next.more).toBe(false);
    const end = await merchant.call(`/merchants/me/events?after=${next.cursor}`);
    expect(end.body.data).toEqual({ items: [], cursor: next.cursor, more: false });
  });

  it('never shows a push or a test delivery', async () => {
    const { body } = await merchant.call('/merchants/me/webhooks');
    await merchant.call(`/merchants/me/webhooks/${body.data.items[0].id}/test`, { method: 'POST' });
    await receiver.waitFor((requests) => requests.some((request) => request.body.includes('"test":true')));
    const { ids } = await readOn(merchant);
    const events = await service.deps.collections.events.find({ _id: { $in: ids } }).toArray();
    expect(events.filter((event) => event.internal)).toEqual([]);
    const pushes = await service.deps.collections.events.find({
      merchantId: merchant.id,
      type: /^pass\.(push|updated)$/,
    });
    expect((await pushes.toArray()).map(({ type, internal }) => [type, internal])).toEqual([['pass.push', true]]);
  });

  it('filters by type, and its cursor is past the events that were filtered out', async () => {
    const { body } = await merchant.call('/merchants/me/events?types=pass.scanned,points.changed');
    expect(body.data.items.map((item: { event: string }) => item.event).sort()).toEqual([
      'pass.scanned',
      'points.changed',
    ]);
    const rest = await merchant.call(`/merchants/me/events?after=${body.data.cursor}`);
    expect(rest.body.data.items).toEqual([]);
  });

  it('refuses foreign cursors, unknown types and limits out of range', async () => {
    const other = await aMerchant(service);
    const { cursor } = await readOn(merchant);
    expect((await other.call(`/merchants/me/events?after=${cursor}`)).status).toBe(400);
    const beyond = Buffer.from(Buffer.from(cursor, 'base64url').toString().replace(/^\d+/, '999999')).toString(
      'base64url',
    );
    const wrong = ['after=x', 'after=', `after=${beyond}`, 'types=', 'types=points', 'limit=0', 'limit=501', 'page=1'];
    for (const query of [...wrong, `after=${cursor}&after=${cursor}`])
      expect([query, (await merchant.call(`/merchants/me/events?${query}`)).status]).toEqual([query, 400]);
  });

  it('shows nothing of another merchant', async () => {
    const other = await aMerchant(service);
    expect((await readOn(other)).ids).toEqual([]);
  });
});

describe('reading during writes', () => {
  it('gives every reader every event once and in the same order, however late a write is committed', async () => {
    const types: EventType[] = ['points.changed', 'pass.scanned'];
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          commits: fc.array(
            fc.record({ holdMs: fc.integer({ min: 0, max: 60 }), events: fc.integer({ min: 1, max: 6 }) }),
            { minLength: 10, maxLength: 30 },
          ),
          limits: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 4, maxLength: 6 }),
        }),
        async ({ commits, limits }) => {
          const merchantId = `merchant-${newId()}`;
          const written: string[] = [];
          const refusals: unknown[] = [];
          let writing = true;

          const write = async ({ holdMs, events }: (typeof commits)[number], index: number) => {
            await sleep((index % 8) * 10);
            const { mongo, collections } = index % 2 ? service.deps : elsewhere;
            const made = Array.from({ length: events }, (_, k) =>
              frozenEvent(merchantId, { type: types[k % 2] as EventType }),
            );
            await mongo.withSession((session) =>
              session.withTransaction(async () => {
                await collections.events.insertMany(made, { session });
                await sleep(holdMs);
              }),
            );
            written.push(...made.map((event) => event._id));
          };

          const deadline = Date.now() + 30_000;
          const read = async (limit: number, index: number): Promise<string[]> => {
            const deps = index % 2 ? service.deps : elsewhere;
            const seen: string[] = [];
            let after = 0;
            while (Date.now() < deadline) {
              const last = !writing;
              // A busy database may refuse a read; the reader repeats it with the same cursor.
              const page = await readFeed(deps, { merchantId, after, limit }).catch((error: unknown) => {
                refusals.push(error);
                return null;
              });
              if (page) {
                seen.push(...page.envelopes.map(({ buffer }) => JSON.parse(Buffer.from(buffer).toString()).eventId));
                after = page.sequence;
                if (last && !page.more) return seen;
              }
              await sleep(5);
            }
            throw new Error(`A reader did not come to the end; last refusal: ${refusals.at(-1)}`);
          };

          const reading = Promise.all(limits.map(read));
          await Promise.all(commits.map(write)).finally(() => {
            writing = false;
          });
          const readers = await reading;
          const [first = [], ...others] = readers;
          expect([...first].sort()).toEqual(written.sort());
          for (const seen of others) expect(seen).toEqual(first);
          expect(new Set(first).size).toBe(first.length);
        },
      ),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it('reports more when a page ends with the last number and further events wait for a number', async () => {
    const merchantId = `merchant-${newId()}`;
    const write = (count: number) =>
      service.deps.collections.events.insertMany(Array.from({ length: count }, () => frozenEvent(merchantId)));
    await write(4);
    const first = await readFeed(service.deps, { merchantId, after: 0, limit: 2 });
    await write(1);
    const second = await readFeed(service.deps, { merchantId, after: first.sequence, limit: 2 });
    expect([second.envelopes.length, second.sequence, second.more]).toEqual([2, 4, true]);
    const last = await readFeed(service.deps, { merchantId, after: second.sequence, limit: 2 });
    expect([last.envelopes.length, last.sequence, last.more]).toEqual([1, 5, false]);
  });

  it('continues after events that were deleted', async () => {
    const merchantId = `merchant-${newId()}`;
    const hourAgo = Date.now() - 3_600_000;
    const made = Array.from({ length: 40 }, (_, index) =>
      frozenEvent(merchantId, { occurredAt: new Date(hourAgo + index) }),
    );
    await service.deps.collections.events.insertMany(made);
    await readFeed(service.deps, { merchantId, after: 0, limit: 1 });
    await removeAll(service.deps, 'events', { merchantId, sequence: { $lte: 30 } });
    const jump = await readFeed(service.deps, { merchantId, after: 0, limit: 10 });
    expect([jump.envelopes.length, jump.sequence, jump.more]).toEqual([0, 30, true]);
    const page = await readFeed(service.deps, { merchantId, after: jump.sequence, limit: 10 });
    expect(page.envelopes.map(({ buffer }) => JSON.parse(Buffer.from(buffer).toString()).eventId)).toEqual(
      made.slice(30).map((event) => event._id),
    );
  });

  it('returns the events before one that is being written, and that event later', async () => {
    const merchantId = `merchant-${newId()}`;
    const { collections, mongo } = service.deps;
    const [busy, published] = [frozenEvent(merchantId), frozenEvent(merchantId)];
    await collections.events.insertMany([{ ...busy, state: 'new' }, published]);
    const hasty = { ...service.deps, retryForMs: 200 };
    const session = mongo.startSession();
    session.startTransaction();
    try {
      await collections.events.updateOne({ _id: busy._id }, { $set: { leaseOwner: 'somebody' } }, { session });
      const first = await readFeed(hasty, { merchantId, after: 0, limit: 10 });
      expect([first.envelopes.length, first.sequence, first.more]).toEqual([1, 1, true]);
      const second = await readFeed(hasty, { merchantId, after: 1, limit: 10 });
      expect([second.envelopes.length, second.sequence, second.more]).toEqual([0, 1, true]);
    } finally {
      await session.abortTransaction();
      await session.endSession();
    }
    const third = await readFeed(hasty, { merchantId, after: 1, limit: 10 });
    expect([third.envelopes.length, third.sequence, third.more]).toEqual([1, 2, false]);
  });

  it('numbers a backlog in bounded steps, and reads as many rows as a page needs', async () => {
    const merchantId = `merchant-${newId()}`;
    const total = 6_000;
    for (let from = 0; from < total; from += 500)
      await service.deps.collections.events.insertMany(Array.from({ length: 500 }, () => frozenEvent(merchantId)));
    let after = 0;
    let seen = 0;
    for (;;) {
      const page = await readFeed(service.deps, { merchantId, after, limit: 500 });
      const numbered = await service.deps.collections.events.countDocuments({ merchantId, sequence: { $gt: 0 } });
      expect(numbered).toBeLessThanOrEqual(page.sequence + 2_000);
      seen += page.envelopes.length;
      after = page.sequence;
      if (!page.more) break;
    }
    expect(seen).toBe(total);
    const page = await readFeed(service.deps, { merchantId, after: 3_000, limit: 20, types: ['points.changed'] });
    expect(page.envelopes).toHaveLength(20);
  });
});
