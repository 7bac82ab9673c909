// What one process leaves behind, another takes over, once: commits whose answer was lost, claims of an attempt that stood
// still, events that fail the batch they are in, and what was written under another clock.
import { Agent, buildConnector } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeMember } from '../../activities/changeMember.js';
import {
  believing,
  type Confirm,
  claimEvents,
  keepLease,
  LeaseLost,
  markPublished,
} from '../../activities/claimEvents.js';
import { decidePoints } from '../../activities/decisions.js';
import type { Store } from '../../activities/deps.js';
import { enrollMember } from '../../activities/enrollMember.js';
import { outboxState } from '../../activities/outbox.js';
import { relayEvents } from '../../activities/relayEvents.js';
import { StaleRead } from '../../activities/transact.js';
import { createWallets } from '../../activities/wallets/wallets.js';
import { attemptDelivery } from '../../activities/webhooks/attemptDelivery.js';
import { postWebhook } from '../../activities/webhooks/postWebhook.js';
import { newDelivery } from '../../activities/webhooks/publishEvents.js';
import type { WorkerDeps } from '../../activities/workerDeps.js';
import type { EventRow } from '../../schemas/collections.js';
import { gestureId, newId } from '../../schemas/ids.js';
import type { Program } from '../../schemas/programs.js';
import { createWorkerDeps } from '../../worker/workerDeps.js';
import { aMerchant, type TestMerchant } from '../rig/merchant.js';
import { type Receiver, startReceiver } from '../rig/receiver.js';
import { startService, type TestService, until } from '../rig/service.js';
import { standStill } from '../rig/standStill.js';
import { hang, ok, status } from '../rig/tempers.js';

const hourMs = 3_600_000;
const actor = { type: 'user', id: 'tester' } as const;

let service: TestService;
let store: Store;
let merchant: TestMerchant;
let program: Program;
let receiver: Receiver;
let deps: WorkerDeps;
let started: string[];

beforeAll(async () => {
  service = await startService({ worker: false });
  store = service.store;
  merchant = await aMerchant(service);
  program = await merchant.program();
  receiver = await startReceiver();
  await merchant.call('/merchants/me/webhooks', {
    body: { url: receiver.url, events: ['*'], timeoutMs: 1_000, retryPolicy: { maxAttempts: 3, backoffMs: 10 } },
  });
  started = [];
  const starter: WorkerDeps['starter'] = {
    available: () => true,
    start: async ({ workflowId }) => {
      started.push(workflowId);
    },
    passUpdate: async () => null,
    passIssuance: async () => null,
    cancel: async () => {},
    signal: async () => {},
    close: async () => {},
  };
  const log = service.store.log;
  const wallets = await createWallets({ config: service.store.config, log });
  deps = createWorkerDeps({ store: service.store, starter, wallets, log, stopping: new AbortController().signal });
});

afterAll(async () => {
  await receiver.stop();
  await service.stop();
});

const person = (name: string) =>
  ({
    program,
    person: { email: `${name}@example.com` },
    source: 'api',
    attribution: {},
    actor,
    holderOf: () => null,
  }) as const;

/** One change, left to the relay. */
async function points(at: Store, memberId: string, delta: number): Promise<string> {
  const changed = await changeMember(at, {
    merchantId: merchant.id,
    memberId,
    holderOf: () => null,
    confirmable: true,
    decide: decidePoints({ delta }, actor),
  });
  if (changed.kind !== 'done') throw new Error(`It is ${changed.kind}.`);
  return changed.eventId;
}

/** Relays until all of them are told, and a little longer: what it has left must stay left. */
async function relayAll(at: WorkerDeps, eventIds: readonly string[]): Promise<void> {
  const never = new AbortController().signal;
  await until(async () => {
    await relayEvents(at, {
      shard: 0,
      attemptId: newId(),
      signal: never,
      callOff: never,
      heartbeat: () => {},
      forMs: 1_500,
    });
    const told = await store.rows.events.countDocuments({ _id: { $in: [...eventIds] }, state: 'published' });
    return told === eventIds.length;
  });
}

const stateOf = async (eventId: string): Promise<EventRow | null> => store.rows.events.findOne({ _id: eventId });
const came = (eventId: string): number =>
  receiver.requests.filter((request) => request.headers['webhook-id'] === eventId).length;

describe('a commit whose answer was lost', () => {
  /** As if the connection broke right after the first commit. */
  function losingTheFirst(): Store {
    let lost = false;
    return {
      ...store,
      crashPoint(name) {
        if (name !== 'after-commit' || lost) return;
        lost = true;
        throw new StaleRead('The answer of the commit was lost.');
      },
    };
  }

  it('enrolls a person without an email once', async () => {
    const firstName = newId();
    const enrolled = await enrollMember(losingTheFirst(), { ...person('unused'), person: { firstName } });
    expect(enrolled.kind).toBe('created');
    expect(await store.rows.members.find({ merchantId: merchant.id, firstName }).toArray()).toHaveLength(1);
  });

  it('says of a person with an email that it was created, not that it was known', async () => {
    const enrolled = await enrollMember(losingTheFirst(), person('lost-answer'));
    expect(enrolled.kind).toBe('created');
  });

  it('leaves a tag that the next request for it puts into the list', async () => {
    const { id } = await merchant.enroll({ email: 'tagged@example.com' });
    await store.rows.members.updateOne({ _id: id }, { $set: { tags: ['half-done'] } });
    const again = await merchant.call(`/merchants/me/members/${id}/tags`, { body: { tags: ['half-done'] } });
    expect(again.body.data.unchanged).toBe(true);
    const { body } = await merchant.call('/merchants/me/members/tags');
    expect(body.data.tags).toContain('half-done');
  });
});

describe('an attempt that stood still while another one took over', () => {
  it('finds its claim gone, and marks nothing', async () => {
    const { id } = await merchant.enroll({ email: 'fenced@example.com' });
    const eventIds = [await points(store, id, 1)];
    const holder = 'points:somebody';
    const stalled = { holder, eventIds, fence: 'first' };
    expect(await claimEvents(store, stalled)).toHaveLength(1);
    const lease = keepLease(store, { ...stalled, claimedAt: Number.NEGATIVE_INFINITY });
    const before = await stateOf(eventIds[0] ?? '');
    await lease.confirm();
    expect(await stateOf(eventIds[0] ?? '')).toEqual(before);
    expect(await claimEvents(store, { holder, eventIds, fence: 'second' })).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 600));
    await expect(lease.confirm()).rejects.toThrow(LeaseLost);
    lease.release();
    await markPublished(store, stalled);
    expect(await stateOf(eventIds[0] ?? '')).toMatchObject({ state: 'new', fence: 'second' });
    await markPublished(store, { holder, eventIds, fence: 'second' });
    expect(await stateOf(eventIds[0] ?? '')).toMatchObject({ state: 'published' });
  });
});

describe('whoever asked before it stood still, and has the answer afterwards', () => {
  it('asks again', async () => {
    const answers = [() => standStill(2_100), () => Promise.reject(new LeaseLost('taken over'))];
    const confirm = believing(async () => void (await answers.shift()?.()), { askedAt: Number.NEGATIVE_INFINITY });
    await expect(confirm()).rejects.toThrow(LeaseLost);
  });

  it('does not ask anew what was answered a moment ago, nor twice at the same moment', async () => {
    let asked = 0;
    const confirm = believing(
      async () => {
        asked += 1;
      },
      { askedAt: Number.NEGATIVE_INFINITY },
    );
    await Promise.all([confirm(), confirm()]);
    await confirm();
    expect(asked).toBe(1);
  });
});

/** An event, and how to attempt its delivery. */
async function somethingToSend(email: string) {
  const { id } = await merchant.enroll({ email });
  const eventId = await points(store, id, 2);
  const event = await stateOf(eventId);
  const subscription = await store.rows.subscriptions.findOne({ merchantId: merchant.id });
  if (!event || !subscription) throw new Error('Nothing to attempt.');
  const delivery = () => newDelivery(deps, { event, subscription, id: newId() });
  const given = { unlogged: true, event, turn: 'first', last: true } as const;
  return {
    eventId,
    attempt: (by: WorkerDeps, confirm: Confirm, timeoutMs = subscription.timeoutMs) =>
      attemptDelivery(by, { ...given, delivery: delivery(), subscription: { ...subscription, timeoutMs }, confirm }),
  };
}

describe('whoever stood still after the answer, before the bytes went out', () => {
  it('sends nothing once another attempt has taken over, and what it may still send a moment later', async () => {
    const { eventId, attempt } = await somethingToSend('before-bytes@example.com');
    const answers = [async () => {}, async () => Promise.reject(new LeaseLost('taken over'))];
    const stalling = {
      ...deps,
      secrets: {
        ...deps.secrets,
        open(sealed: string) {
          standStill(600);
          return deps.secrets.open(sealed);
        },
      },
    };
    const taken = attempt(
      stalling,
      believing(async () => void (await answers.shift()?.()), { askedAt: Number.NEGATIVE_INFINITY }),
    );
    await expect(taken).rejects.toThrow(LeaseLost);
    expect(came(eventId)).toBe(0);

    let asked = 0;
    const held = await attempt(stalling, async () => {
      asked += 1;
      return performance.now() + (asked > 1 ? 5_000 : 500);
    });
    expect(held).toMatchObject({ state: 'succeeded' });
    expect([asked, came(eventId)]).toEqual([2, 1]);
    await relayAll(deps, [eventId]);
  });

  it('gives up no receiver that takes longer to connect to than an answer is believed', async () => {
    const { eventId, attempt } = await somethingToSend('far-away@example.com');
    const connect = buildConnector({});
    const webhookAgent = new Agent({ connect: (...given) => void setTimeout(() => connect(...given), 700) });
    const confirm = believing(async () => {}, { askedAt: Number.NEGATIVE_INFINITY });
    const attempted = await attempt({ ...deps, webhookAgent }, confirm, 20_000);
    await webhookAgent.destroy();
    expect(attempted).toMatchObject({ state: 'succeeded', error: null });
    expect(came(eventId)).toBe(1);
    await relayAll(deps, [eventId]);
  });
});

describe('the relay', () => {
  it('carries out what stands beside an event that cannot be carried out, gives that one back, and shows it', async () => {
    const { id } = await merchant.enroll({ email: 'beside@example.com' });
    const good = [];
    for (let index = 0; index < 5; index += 1) good.push(await points(store, id, 1));
    const model = await stateOf(good[0] ?? '');
    const orphan = await enrollMember(store, person('orphan'));
    if (orphan.kind !== 'created' || !model) throw new Error('Nobody to fail with.');
    await store.rows.members.updateOne({ _id: orphan.member._id }, { $set: { programId: 'gone' } });
    await store.rows.events.updateOne({ _id: orphan.eventId }, { $set: { occurredAt: new Date(Date.now() - hourMs) } });

    await relayAll(deps, good);
    for (const eventId of good) {
      expect(await stateOf(eventId)).toMatchObject({ state: 'published' });
      expect(came(eventId)).toBe(1);
    }
    const left = await stateOf(orphan.eventId);
    expect(left).toMatchObject({ state: 'new', holder: '' });
    expect((left?.dueAt.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(60_000);
    expect((await outboxState(store)).oldestAgeMs).toBeGreaterThanOrEqual(hourMs);
    await store.rows.events.deleteOne({ _id: orphan.eventId });
  });
});

describe('fewer shards than before', () => {
  it('leave no event behind: the first relay takes those of shards that are no more', async () => {
    const { id } = await merchant.enroll({ email: 'shards@example.com' });
    const eventId = await points(store, id, 3);
    await store.rows.events.updateOne({ _id: eventId }, { $set: { shard: 63 } });
    await relayAll(deps, [eventId]);
    expect(await stateOf(eventId)).toMatchObject({ state: 'published', shard: 0 });
    expect(came(eventId)).toBe(1);
  });
});

describe('a clock that is moved by an hour', () => {
  const shifted = (byMs: number) => ({ ...deps, now: () => new Date(Date.now() + byMs) });

  it('breaks no chain, loses no event and doubles none, forwards and back', async () => {
    const { id } = await merchant.enroll({ email: 'clock@example.com' });
    const eventIds: string[] = [];
    for (const byMs of [0, hourMs, 0, -hourMs, 0]) eventIds.push(await points(shifted(byMs), id, 3));
    const rows = await store.rows.transactions.find({ memberId: id }).sort({ memberVersion: 1 }).toArray();
    expect(rows.map(({ previous, current }) => [previous, current])).toEqual([
      [0, 3],
      [3, 6],
      [6, 9],
      [9, 12],
      [12, 15],
    ]);
    await relayAll(deps, eventIds);
    for (const eventId of eventIds) {
      expect(await stateOf(eventId)).toMatchObject({ state: 'published' });
      expect(came(eventId)).toBe(1);
    }
  });

  it('frees the key of a process that died before it was put back', async () => {
    const { id } = await merchant.enroll({ email: 'key@example.com' });
    const key = 'clock-key-1';
    const path = `/merchants/me/members/${id}/points`;
    const asked = { method: 'PATCH', headers: { 'Idempotency-Key': key }, body: { delta: 4 } };
    const { text } = await merchant.call(path, asked);
    // As the dead process left it: applied, and without its answer.
    await store.rows.gestures.updateOne(
      { _id: gestureId('points', id, key) },
      { $set: { createdAt: new Date(Date.now() + hourMs) }, $unset: { response: '' } },
    );
    const again = await merchant.call(path, asked);
    expect(again.status).toBe(200);
    expect(again.body.data).toMatchObject({ previous: 0, current: 4 });
    expect(JSON.parse(text).data.current).toBe(4);
    expect(await store.rows.transactions.find({ memberId: id }).toArray()).toHaveLength(1);
  });
});

describe('the attempts of a delivery', () => {
  it('are used up by the receiver alone: one that was called off or overtaken does not count', async () => {
    const { id } = await merchant.enroll({ email: 'attempts@example.com' });
    receiver.setTemper(status(500));
    const eventId = await points(store, id, 2);
    await relayAll(deps, [eventId]);
    const delivery = await until(() => store.rows.deliveries.findOne({ eventId }));
    expect(delivery).toMatchObject({ state: 'retrying', attempts: 1 });
    expect(started.some((workflowId) => workflowId.startsWith(`delivery:${eventId}:`))).toBe(true);

    let before: number | undefined;
    let number = 0;
    const attempt = (signal?: AbortSignal, at = ++number) =>
      postWebhook(deps, {
        deliveryId: delivery._id,
        attempts: 2,
        carrier: { run: 'a-run', attempt: at },
        before,
        remember: (counted) => {
          before = counted;
        },
        ...(signal && { signal }),
      });
    receiver.setTemper(hang());
    await expect(attempt(AbortSignal.timeout(200))).rejects.toThrow(/called off/);
    receiver.setTemper(status(500));
    await expect(attempt()).rejects.toMatchObject({ nonRetryable: false });
    await expect(attempt()).rejects.toMatchObject({ nonRetryable: true });
    expect(await store.rows.deliveries.findOne({ _id: delivery._id })).toMatchObject({
      state: 'exhausted',
      attempts: 3,
    });
    // As a process that stood still since its attempt was given to another one.
    await expect(attempt(undefined, 2)).rejects.toThrow(LeaseLost);
    expect(await store.rows.deliveries.findOne({ _id: delivery._id })).toMatchObject({
      state: 'exhausted',
      attempts: 3,
    });
    receiver.setTemper(ok());
  });

  it('stay at the end that they came to, whatever one that stood still before its log has to say, and it is in the log', async () => {
    const { id } = await merchant.enroll({ email: 'late-log@example.com' });
    receiver.setTemper(status(500));
    const eventId = await points(store, id, 2);
    await relayAll(deps, [eventId]);
    const delivery = await until(() => store.rows.deliveries.findOne({ eventId }));
    const { attempts: before } = delivery;

    const attempt = (by: WorkerDeps, number: number) =>
      postWebhook(by, {
        deliveryId: delivery._id,
        attempts: 2,
        carrier: { run: 'a-run', attempt: number },
        before,
        remember: () => {},
      });
    let goOn = () => {};
    const standing = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let answered = false;
    const still: WorkerDeps = {
      ...deps,
      async logAttempt(record) {
        answered = true;
        await standing;
        await deps.logAttempt(record);
      },
    };
    const late = attempt(still, 1);
    late.catch(() => {});
    await until(() => answered);
    await expect(attempt(deps, 2)).rejects.toMatchObject({ nonRetryable: false });
    await expect(attempt(deps, 3)).rejects.toMatchObject({ nonRetryable: true });
    goOn();
    await expect(late).rejects.toThrow();
    const ended = await store.rows.deliveries.findOne({ _id: delivery._id });
    expect(ended).toMatchObject({ state: 'exhausted', nextAttemptAt: null, attempts: before + 3 });
    expect(ended?.history).toHaveLength(before + 3);
    receiver.setTemper(ok());
  });
});
