// Work that two processes do at once, or that one takes over from another, takes effect once: commits whose answer was
// lost, leases, attempts of a delivery, rows of a shifted clock. The relay and the delivery queue continue after an
// event that cannot be processed, after a cancellation, and with fewer shards.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LeaseLost, startLeaseRenewal } from '../../../activities/events/leaseRenewal.writes.js';
import { leaseEvents } from '../../../activities/events/leases.writes.js';
import { createMarkPublished } from '../../../activities/events/markPublished.writes.js';
import { serialisedEnvelope } from '../../../activities/events/newEvent.rules.js';
import { outboxState } from '../../../activities/events/outboxState.reads.js';
import { changeMember } from '../../../activities/members/changeMember.writes.js';
import { enrollMember } from '../../../activities/members/enrollMember.writes.js';
import { pointsRule } from '../../../activities/points/adjustOrRedeem.rules.js';
import { createWallets } from '../../../activities/wallets/wallets.client.js';
import { closeDelivery } from '../../../activities/webhooks/closeDelivery.writes.js';
import { attemptDelivery } from '../../../activities/webhooks/deliver.effect.js';
import { newDelivery } from '../../../activities/webhooks/newDelivery.rules.js';
import { findOpenDeliveries } from '../../../activities/webhooks/openDeliveries.writes.js';
import { postWebhook } from '../../../activities/webhooks/postWebhook.activity.js';
import { makeFirstAttempts } from '../../../activities/webhooks/publishEvents.activity.js';
import { relayEvents } from '../../../activities/webhooks/relayEvents.activity.js';
import type { WorkerDeps } from '../../../activities/workerDeps.js';
import type { Deps } from '../../../platform/deps.js';
import { VersionConflict } from '../../../platform/mongodb/conflicts.js';
import type { EventRow } from '../../../schemas/events/events.rows.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { keyedChangeId, newId } from '../../../schemas/shared/ids.js';
import { createWorkerDeps } from '../../../worker/createWorkerDeps.js';
import { until } from '../../rig/checks/until.js';
import { aGate } from '../../rig/standins/gate.js';
import { type Receiver, type Responder, startReceiver } from '../../rig/standins/receiver.js';
import { hang, ok, slow, status } from '../../rig/standins/responders.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const hourMs = 3_600_000;
const actor = { type: 'user', id: 'tester' } as const;

let service: TestService;
let store: Deps;
let merchant: TestMerchant;
let program: Program;
let receiver: Receiver;
let deps: WorkerDeps;
/** The dependencies of another worker process. */
let other: WorkerDeps;
let started: string[];

beforeAll(async () => {
  service = await startService({ worker: false });
  store = service.deps;
  merchant = await aMerchant(service);
  program = await merchant.program();
  receiver = await startReceiver();
  await merchant.call('/merchants/me/webhooks', {
    body: { url: receiver.url, events: ['*'], timeoutMs: 1_000, retryPolicy: { maxAttempts: 3, backoffMs: 10 } },
  });
  started = [];
  const workflowClient: WorkerDeps['workflowClient'] = {
    available: () => true,
    backlogMs: () => 0,
    start: async ({ workflowId }) => {
      started.push(workflowId);
    },
    cancel: async () => {},
    awaitPassIssuance: async () => null,
    close: async () => {},
  };
  const log = service.deps.log;
  const wallets = await createWallets({ config: service.deps.config, log });
  const shutdownSignal = new AbortController().signal;
  const aProcess = () => createWorkerDeps({ base: service.deps, workflowClient, wallets, log, shutdownSignal });
  [deps, other] = [aProcess(), aProcess()];
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
    chooseLeaseOwner: () => null,
  }) as const;

/** A change whose event is left to the relay. */
async function points(at: Deps, memberId: string, delta: number, merchantId = merchant.id): Promise<string> {
  const changed = await changeMember(at, {
    merchantId,
    memberId,
    chooseLeaseOwner: () => null,
    temporalAvailable: true,
    decide: pointsRule({ delta }, { actor, now: new Date() }),
  });
  if (changed.kind !== 'done') throw new Error(`It is ${changed.kind}.`);
  return changed.eventId;
}

/**
 * Runs the relay until all of these events are published, and a little longer, so that a second delivery would show.
 */
async function relayAll(at: WorkerDeps, eventIds: readonly string[]): Promise<void> {
  const never = new AbortController().signal;
  await until(async () => {
    await relayEvents(at, {
      shard: 0,
      activityAttemptId: newId(),
      signal: never,
      cancellationSignal: never,
      heartbeat: () => {},
      forMs: 1_500,
      idleEndMs: 60_000,
    });
    const published = await store.collections.events.countDocuments({
      _id: { $in: [...eventIds] },
      state: 'published',
    });
    return published === eventIds.length;
  });
}

const stateOf = async (eventId: string): Promise<EventRow | null> => store.collections.events.findOne({ _id: eventId });
const came = (eventId: string): number =>
  receiver.requests.filter((request) => request.headers['webhook-id'] === eventId).length;

describe('a commit whose answer was lost', () => {
  /** Dependencies whose connection seems to break right after the first commit. */
  function losingTheFirst(): Deps {
    let lost = false;
    return {
      ...store,
      crashPoint(name) {
        if (name !== 'after-commit' || lost) return;
        lost = true;
        throw new VersionConflict('The answer of the commit was lost.');
      },
    };
  }

  it('enrolls a person without an email once', async () => {
    const firstName = newId();
    const enrolled = await enrollMember(losingTheFirst(), { ...person('unused'), person: { firstName } });
    expect(enrolled.kind).toBe('created');
    expect(await store.collections.members.find({ merchantId: merchant.id, firstName }).toArray()).toHaveLength(1);
  });

  it('reports a person with an email as created, not as known', async () => {
    const enrolled = await enrollMember(losingTheFirst(), person('lost-answer'));
    expect(enrolled.kind).toBe('created');
  });

  it('leaves a tag that the next request for the tag adds to the list of tags', async () => {
    const { id } = await merchant.enroll({ email: 'tagged@example.com' });
    await store.collections.members.updateOne({ _id: id }, { $set: { tags: ['half-done'] } });
    const again = await merchant.call(`/merchants/me/members/${id}/tags`, { body: { tags: ['half-done'] } });
    expect(again.body.data.unchanged).toBe(true);
    const { body } = await merchant.call('/merchants/me/members/tags');
    expect(body.data.tags).toContain('half-done');
  });
});

describe('a run of a lease owner that was paused while the next run took the lease', () => {
  it('finds its lease lost, and marks nothing', async () => {
    const { id } = await merchant.enroll({ email: 'fenced@example.com' });
    const eventIds = [await points(store, id, 1)];
    const leaseOwner = 'points:somebody';
    const stalled = { leaseOwner, eventIds, fence: 'first' };
    const events = await leaseEvents(store, stalled);
    expect(events).toHaveLength(1);
    const lease = startLeaseRenewal(store, stalled);
    const before = await stateOf(eventIds[0] ?? '');
    await lease.check();
    expect(await stateOf(eventIds[0] ?? '')).toEqual(before);
    expect(await leaseEvents(store, { leaseOwner, eventIds, fence: 'second' })).toHaveLength(1);
    await expect(lease.check()).rejects.toThrow(LeaseLost);
    lease.stop();
    await createMarkPublished(store)({ leaseOwner, fence: 'first', events });
    expect(await stateOf(eventIds[0] ?? '')).toMatchObject({ state: 'new', fence: 'second' });
    await createMarkPublished(store)({ leaseOwner, fence: 'second', events });
    expect(await stateOf(eventIds[0] ?? '')).toMatchObject({ state: 'published' });
  });
});

describe('an attempt that failed', () => {
  it('changes nothing in the delivery after another attempt has taken over', async () => {
    const { id } = await merchant.enroll({ email: 'failed-late@example.com' });
    receiver.setResponder(status(500));
    const event = await stateOf(await points(store, id, 2));
    const subscription = await store.collections.subscriptions.findOne({ merchantId: merchant.id });
    if (!event || !subscription) throw new Error('Nothing to attempt.');
    const [published] = await leaseEvents(store, { leaseOwner: 'somebody', eventIds: [event._id] });
    const delivery = newDelivery(deps, { event, subscription, id: newId() });
    const envelope = published && serialisedEnvelope(published, undefined).envelope;
    const attempt = attemptDelivery(deps, {
      ...{ delivery, subscription, unlogged: true, attemptKind: 'first', last: true, policyAttempt: 1 },
      event: { ...event, ...(envelope && { envelope }) },
      checkLease: () => Promise.reject(new LeaseLost('taken over')),
    });
    await expect(attempt).rejects.toThrow(LeaseLost);
    expect(await store.collections.deliveries.findOne({ _id: delivery._id })).toBeNull();
    receiver.setResponder(ok());
    await store.collections.events.updateOne({ _id: event._id }, { $set: { dueAt: new Date() } });
    await relayAll(deps, [event._id]);
  });
});

describe('the relay', () => {
  it('processes the events next to one that cannot be processed, releases that one, and reports it', async () => {
    const { id } = await merchant.enroll({ email: 'beside@example.com' });
    const good = [];
    for (let index = 0; index < 5; index += 1) good.push(await points(store, id, 1));
    const model = await stateOf(good[0] ?? '');
    const orphan = await enrollMember(store, person('orphan'));
    if (orphan.kind !== 'created' || !model) throw new Error('Nobody to fail with.');
    await store.collections.members.updateOne({ _id: orphan.member._id }, { $set: { programId: 'gone' } });
    await store.collections.events.updateOne(
      { _id: orphan.eventId },
      { $set: { occurredAt: new Date(Date.now() - hourMs) } },
    );

    await relayAll(deps, good);
    for (const eventId of good) {
      expect(await stateOf(eventId)).toMatchObject({ state: 'published' });
      expect(came(eventId)).toBe(1);
    }
    const left = await stateOf(orphan.eventId);
    expect(left).toMatchObject({ state: 'new', leaseOwner: '' });
    expect((left?.dueAt.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(60_000);
    expect((await outboxState(store)).oldestAgeMs).toBeGreaterThanOrEqual(hourMs);
    await store.collections.events.deleteOne({ _id: orphan.eventId });
  });
});

describe('a relay that is cancelled', () => {
  it('does not cancel the attempts that publishing no longer waits for', async () => {
    const { id } = await merchant.enroll({ email: 'cancelled@example.com' });
    receiver.setResponder(slow(3_000));
    await store.collections.subscriptions.updateOne({ merchantId: merchant.id }, { $set: { timeoutMs: 10_000 } });
    const eventId = await points(store, id, 1);
    const cancel = new AbortController();
    const cancelled = relayEvents(deps, {
      shard: 0,
      activityAttemptId: newId(),
      signal: cancel.signal,
      cancellationSignal: cancel.signal,
      heartbeat: () => {},
      forMs: 60_000,
      idleEndMs: 60_000,
    });
    await until(async () => (await stateOf(eventId))?.state === 'published');
    cancel.abort();
    await cancelled;
    const { deliveries } = store.collections;
    await until(async () => {
      await relayAll(deps, [eventId]);
      return (await deliveries.findOne({ eventId }))?.state === 'succeeded';
    });
    expect(came(eventId)).toBe(1);
    receiver.setResponder(ok());
  });
});

describe('of two processes that publish an event at the same time', () => {
  it('only the one whose delivery is in the queue sets its state after a failure', async () => {
    const own = await aMerchant(service);
    await own.call('/merchants/me/webhooks', { body: { url: receiver.url, events: ['*'], timeoutMs: 10_000 } });
    const { id } = await own.enroll();
    const event = await stateOf(await points(store, id, 1, own.id));
    if (!event) throw new Error('The event is stored.');
    const { open: answer, opened: answered } = aGate();
    let requests = 0;
    receiver.setResponder((request, response) => {
      requests += 1;
      if (requests === 1) void answered.then(() => status(500)(request, response));
      else status(500)(request, response);
    });
    const { envelope } = serialisedEnvelope(event, undefined);
    const published = [{ ...event, ...(envelope && { envelope }) }];
    const [first, second] = [await findOpenDeliveries(deps, published), await findOpenDeliveries(other, published)];
    const context = { checkLease: async () => {}, cancellationSignal: undefined };
    const delivery = () => store.collections.deliveries.findOne({ eventId: event._id });
    expect(await makeFirstAttempts(deps, first, context)).toEqual(new Map());
    const queued = await delivery();
    expect(queued).toMatchObject({ state: 'pending', attempts: 0, fence: first[0]?.delivery.fence });

    expect(await makeFirstAttempts(other, second, context)).toEqual(new Map());
    expect(await delivery()).toEqual({ ...queued, attempts: 1, history: [expect.objectContaining({ attempt: 1 })] });
    answer();
    const failed = await until(async () => (await delivery())?.state === 'retrying' && delivery());
    expect(failed).toMatchObject({ attempts: 2, dueGroup: `own-workflow:${own.id}` });
    expect(came(event._id)).toBe(2);
    receiver.setResponder(ok());
  });
});

/** Answers all waiting requests at the same moment: when there are `size`, or none came for 200 ms. */
function answerInGroups(size: number): Responder {
  const waiting: (() => void)[] = [];
  let quiet: NodeJS.Timeout | undefined;
  const answerAll = () => {
    for (const answer of waiting.splice(0)) answer();
  };
  return (request, answer) => {
    clearTimeout(quiet);
    waiting.push(() => ok()(request, answer));
    if (waiting.length >= size) answerAll();
    else quiet = setTimeout(answerAll, 200);
  };
}

describe('the delivery queue', () => {
  it('takes more deliveries at a time than there are slots when the receiver answers quickly', async () => {
    // Of its own merchant: a success that a test before left under way would end the subscription's failures.
    const own = await aMerchant(service);
    await own.call('/merchants/me/webhooks', { body: { url: receiver.url, events: ['*'], timeoutMs: 10_000 } });
    const { id } = await own.enroll();
    const eventIds: string[] = [];
    for (let index = 0; index < 400; index += 1) eventIds.push(await points(store, id, 1, own.id));
    // Publishing leaves the deliveries of a failing subscription to the queue.
    const failing = { $set: { 'health.consecutiveFailures': 3 } };
    await store.collections.subscriptions.updateOne({ merchantId: own.id }, failing);
    const taken: number[] = [];
    const { deliveries } = deps.collections;
    const counted = new Proxy(deliveries, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...given: { _id?: { $in: string[] }; fence?: string }[]) => {
          if (name === 'find' && given[0]?.fence !== undefined) taken.push(given[0]._id?.$in.length ?? 0);
          return value.apply(target, given);
        };
      },
    });
    const counting = { ...deps, collections: { ...deps.collections, deliveries: counted } };
    const slots = 32;
    receiver.setResponder(answerInGroups(slots));
    await until(async () => {
      await relayAll(counting, eventIds);
      return eventIds.every((eventId) => came(eventId) > 0);
    });
    receiver.setResponder(ok());
    expect(Math.max(...taken)).toBeGreaterThan(slots);
    for (const eventId of eventIds) expect(came(eventId)).toBe(1);
  });
});

describe('a reduced number of shards', () => {
  it('loses no event: the first relay takes the events of removed shards', async () => {
    const { id } = await merchant.enroll({ email: 'shards@example.com' });
    const eventId = await points(store, id, 3);
    await store.collections.events.updateOne({ _id: eventId }, { $set: { shard: 63 } });
    await relayAll(deps, [eventId]);
    expect(await stateOf(eventId)).toMatchObject({ state: 'published', shard: 0 });
    expect(came(eventId)).toBe(1);
  });
});

describe('a clock that is moved by an hour', () => {
  const shifted = (byMs: number) => ({ ...deps, now: () => new Date(Date.now() + byMs) });

  it('breaks no chain of the ledger, and loses or doubles no event, forward and back', async () => {
    const { id } = await merchant.enroll({ email: 'clock@example.com' });
    const eventIds: string[] = [];
    for (const byMs of [0, hourMs, 0, -hourMs, 0]) eventIds.push(await points(shifted(byMs), id, 3));
    const rows = await store.collections.ledger.find({ memberId: id }).sort({ memberVersion: 1 }).toArray();
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

  it('does not block the key of a process that died before the clock was set back', async () => {
    const { id } = await merchant.enroll({ email: 'key@example.com' });
    const key = 'clock-key-1';
    const path = `/merchants/me/members/${id}/points`;
    const asked = { method: 'PATCH', headers: { 'Idempotency-Key': key }, body: { delta: 4 } };
    const { text } = await merchant.call(path, asked);
    // The state after a process died: the change is applied, and the answer is not stored.
    await store.collections.idempotencyKeys.updateOne(
      { _id: keyedChangeId('points', id, key) },
      { $set: { createdAt: new Date(Date.now() + hourMs) }, $unset: { response: '' } },
    );
    const again = await merchant.call(path, asked);
    expect(again.status).toBe(200);
    expect(again.body.data).toMatchObject({ previous: 0, current: 4 });
    expect(JSON.parse(text).data.current).toBe(4);
    expect(await store.collections.ledger.find({ memberId: id }).toArray()).toHaveLength(1);
  });
});

describe('the attempts of a delivery', () => {
  /** Relays the event until its first attempt has failed: that attempt may last longer than one run of the relay. */
  const retrying = (eventId: string) =>
    until(async () => {
      await relayAll(deps, [eventId]);
      return store.collections.deliveries.findOne({ eventId, state: 'retrying' });
    });

  it('are used up by failures of the receiver only: an aborted or superseded attempt does not count', async () => {
    const { id } = await merchant.enroll({ email: 'attempts@example.com' });
    receiver.setResponder(status(500));
    const eventId = await points(store, id, 2);
    const delivery = await retrying(eventId);
    expect(delivery).toMatchObject({ state: 'retrying', attempts: 1 });
    await until(() => started.some((workflowId) => workflowId.startsWith(`delivery:${eventId}:`)));

    let attemptsAtStart: number | undefined;
    let number = 0;
    const attempt = (signal?: AbortSignal, at = ++number) =>
      postWebhook(deps, {
        deliveryId: delivery._id,
        attemptsLeft: 2,
        activityAttempt: { runId: 'a-run', attempt: at },
        attemptsAtStart,
        saveAttemptsAtStart: (counted) => {
          attemptsAtStart = counted;
        },
        ...(signal && { signal }),
      });
    receiver.setResponder(hang());
    await expect(attempt(AbortSignal.timeout(200))).rejects.toThrow(/called off/);
    receiver.setResponder(status(500));
    await expect(attempt()).rejects.toMatchObject({ nonRetryable: false });
    await expect(attempt()).rejects.toMatchObject({ nonRetryable: true });
    expect(await store.collections.deliveries.findOne({ _id: delivery._id })).toMatchObject({
      state: 'exhausted',
      attempts: 3,
    });
    // An attempt of a paused process: without this check, it left the delivery "retrying" forever.
    await expect(attempt(undefined, 2)).rejects.toThrow(LeaseLost);
    expect(await deps.collections.deliveries.findOne({ _id: delivery._id })).toMatchObject({
      state: 'exhausted',
      attempts: 3,
    });
    receiver.setResponder(ok());
  });

  it.each([
    ['go on behind those before their workflow, whatever the policy allows meanwhile', { attemptsMade: 5 }, 32_000],
    ['begin with the first wait when a workflow makes them all', { attemptsMade: 0 }, 1_000],
    ['go on behind those in the log, in a workflow of an earlier release', {}, 2_000],
  ])('%s', async (_title, made, waitMs) => {
    const { id } = await merchant.enroll();
    receiver.setResponder(status(500));
    const eventId = await points(store, id, 2);
    const delivery = await retrying(eventId);
    const where = { _id: delivery.subscriptionId };
    const retryPolicy = { maxAttempts: 3, backoffMs: 1_000, factor: 2 };
    const before = await store.collections.subscriptions.findOneAndUpdate(where, { $set: { retryPolicy } });
    const attempted = postWebhook(deps, {
      deliveryId: delivery._id,
      attemptsLeft: 7,
      ...made,
      activityAttempt: { runId: 'a-run', attempt: 1 },
      attemptsAtStart: undefined,
      saveAttemptsAtStart: () => {},
    });
    await expect(attempted).rejects.toMatchObject({ nextRetryDelay: waitMs });
    if (before) await store.collections.subscriptions.updateOne(where, { $set: { retryPolicy: before.retryPolicy } });
    receiver.setResponder(ok());
  });

  it.each([
    ['that succeeded meanwhile', { state: 'succeeded', success: true, statusCode: 204 } as const],
    ['that another attempt took over', { state: 'retrying', fence: 'another' } as const],
  ])('end a delivery %s in no other way', async (_title, meanwhile) => {
    const { id } = await merchant.enroll();
    const eventId = await points(store, id, 2);
    const [event, subscription] = await Promise.all([
      store.collections.events.findOne({ _id: eventId }),
      store.collections.subscriptions.findOne({ merchantId: merchant.id }),
    ]);
    if (!event || !subscription) throw new Error('Both are stored.');
    const read = newDelivery(deps, { event, subscription, id: newId() });
    await store.collections.deliveries.insertOne({ ...read, ...meanwhile });
    const closing = closeDelivery(deps, read, { state: 'exhausted', error: 'deleted' });
    if (meanwhile.state === 'succeeded') expect(await closing).toEqual({ state: 'succeeded' });
    else await expect(closing).rejects.toThrow(LeaseLost);
    expect(await store.collections.deliveries.findOne({ _id: read._id })).toMatchObject({ error: null, ...meanwhile });
  });

  it('keep their final state when an older attempt that stood still is logged, and the log has that attempt', async () => {
    const { id } = await merchant.enroll({ email: 'late-log@example.com' });
    receiver.setResponder(status(500));
    const eventId = await points(store, id, 2);
    const delivery = await retrying(eventId);
    const { attempts: attemptsAtStart } = delivery;

    const attempt = (by: WorkerDeps, number: number) =>
      postWebhook(by, {
        deliveryId: delivery._id,
        attemptsLeft: 2,
        activityAttempt: { runId: 'a-run', attempt: number },
        attemptsAtStart,
        saveAttemptsAtStart: () => {},
      });
    const { open: goOn, opened: standing } = aGate();
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
    const ended = await store.collections.deliveries.findOne({ _id: delivery._id });
    expect(ended).toMatchObject({ state: 'exhausted', nextAttemptAt: null, attempts: attemptsAtStart + 3 });
    expect(ended?.history).toHaveLength(attemptsAtStart + 3);
    receiver.setResponder(ok());
  });
});
