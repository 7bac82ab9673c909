// Subscriptions, deliveries and the delivery log (docs/interface.md, sections 2.10, 2.11, 4.6 and 6): which events go
// to which subscription, how often, and what the log says afterwards.

import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postWebhook } from '../../../activities/webhooks/postWebhook.activity.js';
import { liveSecrets, rotateSecret } from '../../../activities/webhooks/signingSecrets.writes.js';
import { createSubscription } from '../../../activities/webhooks/subscriptions.writes.js';
import { listDeliveries } from '../../../api/webhooks/deliveryLog.reads.js';
import { createDeps } from '../../../platform/createDeps.js';
import { updateByIds } from '../../../platform/mongodb/updateMany.js';
import { deliveryWorkflowId } from '../../../schemas/shared/ids.js';
import type { DeliveryRow } from '../../../schemas/webhooks/webhooks.rows.js';
import { subscriptionRequest } from '../../../schemas/webhooks/webhooks.schema.js';
import { until } from '../../rig/checks/until.js';
import { type Received, type Receiver, type Responder, startReceiver } from '../../rig/standins/receiver.js';
import { failThenOk, gone, hang, ok, status, tooMany } from '../../rig/standins/responders.js';
import { type Answer, aMerchant, type Call, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker } from '../../rig/start/testWorker.js';

let service: TestService;
const receivers: Receiver[] = [];

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
  await Promise.all(receivers.map((receiver) => receiver.stop()));
});

const all = '/merchants/me/webhooks';
const quick = { maxAttempts: 5, backoffMs: 50 };

async function listening(responder: Responder = ok()): Promise<Receiver> {
  const receiver = await startReceiver(responder);
  receivers.push(receiver);
  return receiver;
}

interface Subscribed {
  merchant: TestMerchant;
  receiver: Receiver;
  id: string;
  secret: string;
  patch: (body: object) => Promise<Answer>;
  log: (query?: string) => Promise<Delivery[]>;
}

interface Delivery {
  id: string;
  eventId: string;
  eventType: string;
  state: string;
  success: boolean;
  statusCode: number | null;
  error: string | null;
  attempts: number;
  history: { attempt: number; at: string; statusCode: number | null; error: string | null; durationMs: number }[];
  payload: { data: Record<string, unknown> } | null;
  nextAttemptAt: string | null;
  lastAttemptAt: string | null;
  createdAt: string;
  replayOf?: string;
}

/** A new merchant with one subscription, by default to points events only. */
async function subscribed(responder: Responder = ok(), body: object = {}): Promise<Subscribed> {
  const [merchant, receiver] = [await aMerchant(service), await listening(responder)];
  const created = await merchant.call(all, {
    body: { url: receiver.url, events: ['points.changed'], retryPolicy: quick, ...body },
  });
  const { id, secret } = created.body.data;
  return {
    merchant,
    receiver,
    id,
    secret,
    patch: (change) => merchant.call(`${all}/${id}`, { method: 'PATCH', body: change }),
    log: async (query = '') =>
      (await merchant.call(`${all}/delivery-logs?subscriptionId=${id}${query}`)).body.data.items,
  };
}

const award = (merchant: TestMerchant, memberId: string, delta = 1) =>
  merchant.call(`/merchants/me/members/${memberId}/points`, { method: 'PATCH', body: { delta } });
const envelopeOf = (request: Received) => JSON.parse(request.body.toString('utf8'));

/** Waits until the subscription's only delivery has this state. */
const settled = ({ log }: Pick<Subscribed, 'log'>, state: string) =>
  until(async () => (await log()).find((delivery) => delivery.state === state));

describe('a subscription', () => {
  it('is created with defaults, its own secret, and the host as its name', async () => {
    const merchant = await aMerchant(service);
    const { status: answered, body } = await merchant.call(all, {
      body: { url: 'http://127.0.0.1:9/hook', events: ['points.changed', 'points.changed'] },
    });
    expect(answered).toBe(201);
    expect(body.data).toMatchObject({
      id: expect.any(String),
      name: '127.0.0.1:9',
      description: '',
      url: 'http://127.0.0.1:9/hook',
      events: ['points.changed'],
      enabled: true,
      timeoutMs: 10_000,
      retryPolicy: { maxAttempts: 8, backoffMs: 30_000, factor: 4 },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
  });

  it('is read and listed without its secret, which is stored encrypted', async () => {
    const { merchant, id, secret } = await subscribed(ok(), { secret: 'a secret of my own' });
    expect(secret).toBe('a secret of my own');
    const one = await merchant.call(`${all}/${id}`);
    const list = await merchant.call(all);
    expect(list.body.data).toMatchObject({ total: 1, page: 1, pageSize: 25 });
    expect(list.body.data.items[0]).toEqual(one.body.data);
    const row = await service.deps.collections.subscriptions.findOne({ _id: id });
    for (const text of [one.text, list.text, JSON.stringify(row)]) expect(text).not.toContain(secret);
  });

  it('is listed by page, and filtered by whether it is enabled', async () => {
    const merchant = await aMerchant(service);
    for (const enabled of [true, false, true])
      await merchant.call(all, { body: { url: 'http://127.0.0.1:9/x', events: ['*'], enabled } });
    const read = async (query: string) => (await merchant.call(`${all}?${query}`)).body.data;
    expect((await read('enabled=true')).total).toBe(2);
    expect((await read('enabled=false')).items).toHaveLength(1);
    expect(await read('page=2&pageSize=2')).toMatchObject({ page: 2, pageSize: 2, total: 3 });
    expect((await read('page=2&pageSize=2')).items).toHaveLength(1);
  });

  it('is changed field by field, and keeps fields that were not sent', async () => {
    const { patch, merchant, id } = await subscribed();
    const { status: answered, body } = await patch({
      name: 'Renamed',
      retryPolicy: { backoffMs: 75 },
      timeoutMs: 2_000,
    });
    expect(answered).toBe(200);
    expect(body.data).toMatchObject({
      name: 'Renamed',
      timeoutMs: 2_000,
      retryPolicy: { maxAttempts: 5, backoffMs: 75 },
    });
    expect(body.data).not.toHaveProperty('secret');
    expect((await merchant.call(`${all}/${id}`)).body.data).toEqual(body.data);
  });

  it.each([
    ['no URL', { url: undefined }],
    ['no events', { events: [] }],
    ['an unknown event', { events: ['points.lost'] }],
    ['a timeout too short', { timeoutMs: 999 }],
    ['a timeout too long', { timeoutMs: 30_001 }],
    ['no attempt at all', { retryPolicy: { maxAttempts: 0 } }],
    ['21 attempts', { retryPolicy: { maxAttempts: 21 } }],
    ['a wait of more than a day', { retryPolicy: { backoffMs: 86_400_001 } }],
    ['a secret of 15 characters', { secret: 'x'.repeat(15) }],
    ['a secret of 129 characters', { secret: 'x'.repeat(129) }],
    ['a secret that no library could read', { secret: 'whsec_not base64 at all!' }],
    ['a URL with a new line', { url: 'http://127.0.0.1:9/a\nb' }],
    ['an unknown field', { headers: {} }],
  ])('with %s is refused', async (_what, fields) => {
    const merchant = await aMerchant(service);
    const answer = await merchant.call(all, { body: { url: 'http://127.0.0.1:9/x', events: ['*'], ...fields } });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect((await merchant.call(all)).body.data.total).toBe(0);
  });

  it.each([
    'http://10.0.0.1/x',
    'https://169.254.169.254/latest',
    'https://[::ffff:10.0.0.1]/',
    'ftp://example.com/',
    'https://user:pw@example.com/',
    'nonsense',
    'https://example.com:25/',
    'http://example.com/',
  ])('to %s is forbidden, on creation and on update', async (url) => {
    const { merchant, patch } = await subscribed();
    for (const answer of [await merchant.call(all, { body: { url, events: ['*'] } }), await patch({ url })])
      expect([answer.status, answer.body.error.code]).toEqual([400, 'WEBHOOK_URL_FORBIDDEN']);
  });

  it('is one of twenty at most, also for concurrent requests', async () => {
    const merchant = await aMerchant(service);
    const create = () => merchant.call(all, { body: { url: 'http://127.0.0.1:9/x', events: ['*'] } });
    const answers = await Promise.all(Array.from({ length: 23 }, create));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(20);
    for (const answer of answers.filter((each) => each.status !== 201))
      expect([answer.status, answer.body.error.code]).toEqual([400, 'WEBHOOK_LIMIT_REACHED']);
  });

  it('is one of twenty at most, also for concurrent requests to two processes', async () => {
    const { deps } = service;
    const [worker, other] = [
      await startTestWorker(service),
      createDeps({ config: deps.config, log: deps.log, timeouts: 'tool' }),
    ];
    const { id: merchantId } = await aMerchant(service);
    const request = subscriptionRequest.parse({ url: 'http://127.0.0.1:9/x', events: ['*'] });
    const results = await Promise.allSettled(
      Array.from({ length: 24 }, (_, index) =>
        createSubscription({ ...worker.deps, ...(index % 2 ? other : deps) }, { merchantId, request }),
      ),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(4).fill('WEBHOOK_LIMIT_REACHED'));
    expect(await deps.collections.subscriptions.countDocuments({ merchantId })).toBe(20);
    await Promise.all([worker.close(), other.close()]);
  });

  it('that was deleted is not found and gets nothing any more', async () => {
    const { merchant, receiver, id } = await subscribed();
    const member = await merchant.enroll();
    const deleted = await merchant.call(`${all}/${id}`, { method: 'DELETE' });
    expect([deleted.status, deleted.body.data]).toEqual([200, { id, deleted: true }]);
    for (const call of [
      { method: 'GET' },
      { method: 'DELETE' },
      { method: 'PATCH', body: { name: 'x' } },
    ] satisfies Call[]) {
      const answer = await merchant.call(`${all}/${id}`, call);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'WEBHOOK_NOT_FOUND']);
    }
    await award(merchant, member.id);
    await until(() =>
      service.deps.collections.events.findOne({ memberId: member.id, type: 'points.changed', state: 'published' }),
    );
    expect(receiver.requests).toHaveLength(0);
  });
});

describe('a delivery', () => {
  it('reaches every subscription to its type, and no other', async () => {
    const merchant = await aMerchant(service);
    const [points, everything, redeems] = [await listening(), await listening(), await listening()];
    for (const [receiver, events] of [
      [points, ['points.changed']],
      [everything, ['*']],
      [redeems, ['reward.redeemed']],
    ] as const)
      await merchant.call(all, { body: { url: receiver.url, events } });
    const member = await merchant.enroll();
    await award(merchant, member.id);
    await Promise.all([
      points.waitFor((requests) => requests.length === 1),
      everything.waitFor((requests) => requests.length === 4),
    ]);
    expect(points.requests.map((request) => envelopeOf(request).event)).toEqual(['points.changed']);
    expect(redeems.requests).toHaveLength(0);
    const [one] = points.requests;
    const same = everything.requests.find(
      (request) => envelopeOf(request).eventId === (one && envelopeOf(one).eventId),
    );
    expect(same?.body.equals(one?.body ?? Buffer.alloc(0))).toBe(true);
  });

  it('has in the log what was sent, when, and the response, with personal data masked', async () => {
    const { merchant, receiver, id, log } = await subscribed(ok(), { events: ['member.created'] });
    const member = await merchant.enroll({ firstName: 'Ada', email: 'ada@example.com' });
    await receiver.waitFor((requests) => requests.length === 1);
    const delivery = await settled({ log }, 'succeeded');
    expect(delivery).toMatchObject({
      subscriptionId: id,
      eventType: 'member.created',
      url: receiver.url,
      success: true,
      statusCode: 204,
      error: null,
      attempts: 1,
      nextAttemptAt: null,
      history: [{ attempt: 1, statusCode: 204, error: null }],
    });
    expect(delivery.payload?.data).toMatchObject({ memberId: member.id, firstName: 'A***', email: 'a***' });
    const [request] = receiver.requests;
    expect(request && envelopeOf(request).data).toMatchObject({ firstName: 'Ada', email: 'ada@example.com' });
    expect(request && envelopeOf(request).eventId).toBe(delivery.eventId);
  });

  it('is in the log while its receiver has not answered yet', async () => {
    const { merchant, receiver, log } = await subscribed(hang(), { timeoutMs: 4_000 });
    const member = await merchant.enroll();
    await award(merchant, member.id);
    await receiver.waitFor((requests) => requests.length === 1);
    expect(await settled({ log }, 'pending')).toMatchObject({ success: false, attempts: 0, history: [], error: null });
    receiver.setResponder(ok());
    const delivery = await settled({ log }, 'succeeded');
    expect(delivery.history.map(({ attempt, error }) => [attempt, error])).toEqual([
      [1, 'timeout'],
      [2, null],
    ]);
    expect(await log()).toHaveLength(1);
  });

  it('is tried again with the same bytes, a new timestamp and a new signature, until it succeeds', async () => {
    const { merchant, receiver, secret, log } = await subscribed(failThenOk(3));
    const member = await merchant.enroll();
    await award(merchant, member.id);
    await receiver.waitFor((requests) => requests.length === 4);
    for (const request of receiver.requests) {
      expect(request.body.equals(receiver.requests[0]?.body ?? Buffer.alloc(0))).toBe(true);
      const timestamp = String(request.headers['x-service-webhook-timestamp']);
      const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(request.body).digest('hex');
      expect(request.headers['x-service-webhook-signature']).toBe(`sha256=${expected}`);
      new Webhook(secret).verify(request.body, request.headers as Record<string, string>);
    }
    const times = receiver.requests.map((request) => String(request.headers['x-service-webhook-timestamp']));
    expect(new Set(times).size).toBe(4);
    expect(times).toEqual(times.toSorted());
    const delivery = await settled({ log }, 'succeeded');
    expect(delivery).toMatchObject({ attempts: 4, success: true, statusCode: 204 });
    expect(delivery.history.map(({ attempt, statusCode }) => [attempt, statusCode])).toEqual([
      [1, 500],
      [2, 500],
      [3, 500],
      [4, 204],
    ]);
  });

  it('waits for its backoff between attempts', async () => {
    const { merchant, receiver } = await subscribed(failThenOk(2), { retryPolicy: { maxAttempts: 5, backoffMs: 700 } });
    const member = await merchant.enroll();
    await award(merchant, member.id);
    await receiver.waitFor((requests) => requests.length === 3);
    const [first, second, third] = receiver.requests.map((request) => request.at.getTime());
    for (const wait of [(second ?? 0) - (first ?? 0), (third ?? 0) - (second ?? 0)])
      expect(wait).toBeGreaterThanOrEqual(690);
  });

  it('waits longer when the receiver asks for it', async () => {
    let asked = false;
    const { merchant, receiver } = await subscribed((request, answer) => {
      const responder = asked ? ok() : tooMany('2');
      asked = true;
      responder(request, answer);
    });
    const member = await merchant.enroll();
    await award(merchant, member.id);
    await receiver.waitFor((requests) => requests.length === 2);
    const [first, second] = receiver.requests.map((request) => request.at.getTime());
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1_950);
  });

  it('with a backoff of zero is tried again at once', async () => {
    const { merchant, receiver } = await subscribed(failThenOk(3), { retryPolicy: { maxAttempts: 5, backoffMs: 0 } });
    const member = await merchant.enroll();
    await award(merchant, member.id);
    await receiver.waitFor((requests) => requests.length === 4);
  });

  it('to a receiver that answers 410 ends at once and disables the subscription', async () => {
    const { merchant, receiver, id, log } = await subscribed(gone());
    const member = await merchant.enroll();
    await award(merchant, member.id);
    const delivery = await settled({ log }, 'exhausted');
    expect(delivery).toMatchObject({
      attempts: 1,
      error: 'gone',
      statusCode: 410,
      success: false,
      nextAttemptAt: null,
    });
    await until(async () => (await merchant.call(`${all}/${id}`)).body.data.enabled === false);
    expect(receiver.requests).toHaveLength(1);
  });

  it('that is exhausted is a failed workflow; when an operator resets it, it is delivered', async () => {
    const { merchant, receiver, id, log } = await subscribed(status(500), {
      retryPolicy: { maxAttempts: 3, backoffMs: 20 },
    });
    const member = await merchant.enroll();
    await award(merchant, member.id);
    const used = await settled({ log }, 'exhausted');
    expect(used).toMatchObject({ attempts: 3, success: false, statusCode: 500, error: 'status', nextAttemptAt: null });
    expect(receiver.requests).toHaveLength(3);
    const handle = service.client.workflow.getHandle(deliveryWorkflowId(used.eventId, id));
    await until(async () => (await handle.describe()).status.name === 'FAILED');

    receiver.setResponder(ok());
    const { runId } = await handle.describe();
    const { events } = await handle.fetchHistory();
    const begun = events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId;
    await service.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: handle.workflowId, runId },
      reason: 'the receiver is well again',
      requestId: runId,
      workflowTaskFinishEventId: begun ?? null,
    });
    const delivered = await settled({ log }, 'succeeded');
    expect(delivered).toMatchObject({ id: used.id, attempts: 4, success: true });
    expect(receiver.requests).toHaveLength(4);
    expect(receiver.requests[3]?.body.equals(receiver.requests[0]?.body ?? Buffer.alloc(0))).toBe(true);
  });

  it("goes to the subscription's URL at the time of the attempt", async () => {
    const { merchant, receiver, patch, log } = await subscribed(status(500), {
      retryPolicy: { maxAttempts: 5, backoffMs: 700 },
    });
    const next = await listening();
    const member = await merchant.enroll();
    await award(merchant, member.id);
    await receiver.waitFor((requests) => requests.length === 1);
    await patch({ url: next.url });
    await next.waitFor((requests) => requests.length === 1);
    expect(await settled({ log }, 'succeeded')).toMatchObject({ url: next.url, attempts: 2 });
  });

  it('to a disabled subscription is logged as skipped', async () => {
    const { merchant, receiver, patch, log } = await subscribed();
    const member = await merchant.enroll();
    await patch({ enabled: false });
    await award(merchant, member.id);
    expect(await settled({ log }, 'skipped')).toMatchObject({
      attempts: 0,
      history: [],
      success: false,
      error: 'disabled',
    });
    expect(receiver.requests).toHaveLength(0);
  });
});

describe('a rotation of the secret', () => {
  it('signs with the new secret, and for one day also with the old one', async () => {
    const { merchant, receiver, id, secret } = await subscribed();
    const member = await merchant.enroll();
    const rotated = await merchant.call(`${all}/${id}/rotate-secret`, { method: 'POST' });
    expect(rotated.status).toBe(200);
    const { secret: next, previousSecretExpiresAt } = rotated.body.data;
    expect(next).not.toBe(secret);
    expect(Date.parse(previousSecretExpiresAt) - Date.now()).toBeGreaterThan(86_300_000);
    await award(merchant, member.id);
    await receiver.waitFor((requests) => requests.length === 1);
    const [request] = receiver.requests;
    if (!request) throw new Error('Nothing came.');
    const timestamp = String(request.headers['x-service-webhook-timestamp']);
    const expected = createHmac('sha256', next).update(`${timestamp}.`).update(request.body).digest('hex');
    expect(request.headers['x-service-webhook-signature']).toBe(`sha256=${expected}`);
    for (const live of [next, secret])
      new Webhook(live).verify(request.body, request.headers as Record<string, string>);

    await service.deps.collections.subscriptions.updateOne(
      { _id: id },
      { $set: { 'secrets.1.expiresAt': new Date(Date.now() - 1) } },
    );
    await award(merchant, member.id);
    await receiver.waitFor((requests) => requests.length === 2);
    const [, later] = receiver.requests;
    if (!later) throw new Error('Nothing came.');
    new Webhook(next).verify(later.body, later.headers as Record<string, string>);
    expect(() => new Webhook(secret).verify(later.body, later.headers as Record<string, string>)).toThrow();
  });
});

describe('two concurrent rotations', () => {
  it('in two processes both count: each returned secret signs', async () => {
    const { merchant, id } = await subscribed();
    const { deps } = service;
    const [worker, other] = [
      await startTestWorker(service),
      createDeps({ config: deps.config, log: deps.log, timeouts: 'tool' }),
    ];
    const at = { merchantId: merchant.id, id };
    const given = await Promise.all(
      [deps, other, deps, other].map((one) => rotateSecret({ ...worker.deps, ...one }, at)),
    );
    const row = await deps.collections.subscriptions.findOne({ _id: id });
    const kept = row ? liveSecrets(worker.deps, row, new Date()) : [];
    expect(kept).toHaveLength(5);
    expect(kept).toEqual(expect.arrayContaining(given.map(({ secret }) => secret)));
    for (let more = 0; more < 7; more += 1) await rotateSecret({ ...worker.deps, ...deps }, at);
    expect((await deps.collections.subscriptions.findOne({ _id: id }))?.secrets).toHaveLength(10);
    await Promise.all([worker.close(), other.close()]);
  });
});

describe('a replay', () => {
  it('is a new delivery of the same event with the same bytes', async () => {
    const { merchant, receiver, log } = await subscribed();
    const member = await merchant.enroll();
    await award(merchant, member.id);
    const first = await settled({ log }, 'succeeded');
    const { status: answered, body } = await merchant.call(`${all}/delivery-logs/${first.id}/replay`, {
      method: 'POST',
    });
    expect(answered).toBe(200);
    expect(body.data).toEqual({ queued: true, eventType: 'points.changed', eventId: first.eventId });
    await receiver.waitFor((requests) => requests.length === 2);
    const [one, other] = receiver.requests;
    expect(other?.body.equals(one?.body ?? Buffer.alloc(0))).toBe(true);
    expect(other?.headers['webhook-id']).toBe(first.eventId);
    const again = await until(async () =>
      (await log()).find((delivery) => delivery.replayOf === first.id && delivery.success),
    );
    expect(again).toMatchObject({ eventId: first.eventId, attempts: 1, state: 'succeeded' });
    expect((await log()).find((delivery) => delivery.id === first.id)).toEqual(first);
  });

  it('of an unknown delivery is 404', async () => {
    const merchant = await aMerchant(service);
    const { status: answered, body } = await merchant.call(`${all}/delivery-logs/nothing/replay`, { method: 'POST' });
    expect([answered, body.error.code]).toEqual([404, 'DELIVERY_NOT_FOUND']);
  });
});

describe('while Temporal is unavailable', () => {
  it('a replay and a test are refused with 503, and leave no delivery that is never sent', async () => {
    const { merchant, id, log } = await subscribed();
    const member = await merchant.enroll();
    await award(merchant, member.id);
    const first = await settled({ log }, 'succeeded');
    const { workflow } = service.client;
    const { start } = workflow;
    workflow.start = async () => {
      throw new Error('14 UNAVAILABLE');
    };
    try {
      for (const path of [`/delivery-logs/${first.id}/replay`, `/${id}/test`]) {
        const answer = await merchant.call(`${all}${path}`, { method: 'POST' });
        expect([answer.status, answer.body.error.code]).toEqual([503, 'UNAVAILABLE']);
      }
    } finally {
      workflow.start = start;
    }
    expect(await log()).toEqual([first]);
    // The tests that follow begin with a service that knows that Temporal is there again.
    const ready = async () => (await fetch(`${service.publicUrl}/readyz`)).json();
    await expect.poll(ready).toMatchObject({ checks: { temporal: true } });
  });
});

describe('a test event', () => {
  it('is a real delivery of the first type, to this subscription only, and is marked as a test', async () => {
    const { merchant, receiver, id, log } = await subscribed(ok(), { events: ['reward.redeemed', 'points.changed'] });
    const beside = await listening();
    await merchant.call(all, { body: { url: beside.url, events: ['*'] } });
    const { status: answered, body } = await merchant.call(`${all}/${id}/test`, { method: 'POST' });
    expect(answered).toBe(200);
    expect(body.data).toEqual({ queued: true, eventType: 'reward.redeemed', eventId: expect.any(String) });
    await receiver.waitFor((requests) => requests.length === 1);
    const [request] = receiver.requests;
    expect(request && envelopeOf(request)).toMatchObject({
      eventId: body.data.eventId,
      tenantId: merchant.id,
      data: { test: true },
    });
    expect(await settled({ log }, 'succeeded')).toMatchObject({ eventId: body.data.eventId });
    expect(beside.requests).toHaveLength(0);
  });

  it('of a subscription to all types is points.changed', async () => {
    const { merchant, id } = await subscribed(ok(), { events: ['*'] });
    const { body } = await merchant.call(`${all}/${id}/test`, { method: 'POST' });
    expect(body.data.eventType).toBe('points.changed');
  });
});

describe('the log', () => {
  it('is filtered by subscription, type and success, newest first and page by page', async () => {
    const { merchant, id, patch } = await subscribed(status(500), {
      events: ['*'],
      retryPolicy: { maxAttempts: 1, backoffMs: 0 },
    });
    const good = await listening();
    await merchant.call(all, { body: { url: good.url, events: ['points.changed'] } });
    const member = await merchant.enroll();
    for (let index = 0; index < 2; index += 1) await award(merchant, member.id);
    const read = async (query: string): Promise<{ items: Delivery[]; total: number }> =>
      (await merchant.call(`${all}/delivery-logs?${query}`)).body.data;
    await until(async () => (await read(`subscriptionId=${id}&success=false`)).total === 5);
    await until(async () => (await read('success=true')).total === 2);
    expect((await read('')).total).toBe(7);
    expect((await read('eventType=points.changed')).total).toBe(4);
    expect((await read(`subscriptionId=${id}&eventType=pass.created&success=false`)).total).toBe(2);
    expect((await read('eventType=campaign.sent')).items).toEqual([]);
    const times = (await read('')).items.map((delivery) => delivery.createdAt);
    expect(times).toEqual(times.toSorted().toReversed());
    const pages = [...(await read('pageSize=4')).items, ...(await read('pageSize=4&page=2')).items];
    expect(pages.map((delivery) => delivery.id)).toEqual((await read('')).items.map((delivery) => delivery.id));
    await patch({ enabled: false });
    await award(merchant, member.id);
    await until(async () => (await read(`subscriptionId=${id}`)).total === 6);
    expect((await read(`subscriptionId=${id}&success=false`)).total).toBe(5);
  });
});

describe('the log of an event, of a member and of a time', () => {
  it('has only their deliveries', async () => {
    const { merchant, log, patch } = await subscribed(ok(), { events: ['*'] });
    const [ada, ben] = [await merchant.enroll(), await merchant.enroll()];
    await award(merchant, ada.id);
    const ofAda = `&memberId=${ada.id}`;
    const deliveries = await until(async () => {
      const [all, own] = [await log(), await log(ofAda)];
      return all.length === 7 && own.length === 4 && own;
    });
    const types = ['member.created', 'pass.created', 'pass.created', 'points.changed'];
    expect(deliveries.map(({ eventType }) => eventType).toSorted()).toEqual(types);
    expect(await log(`&memberId=${ben.id}`)).toHaveLength(3);
    const [one] = deliveries;
    if (!one) throw new Error('There is a delivery.');
    expect((await log(`&eventId=${one.eventId}`)).map(({ id }) => id)).toEqual([one.id]);
    expect(await log(`&eventId=${one.eventId}&memberId=${ben.id}`)).toEqual([]);
    const times = async (query: string) => (await log(query)).map(({ createdAt }) => createdAt);
    const newestFirst = await times('');
    const middle = newestFirst[3] ?? '';
    expect(await times(`&since=${middle}`)).toEqual(newestFirst.filter((time) => time >= middle));
    expect(await times(`&until=${middle}`)).toEqual(newestFirst.filter((time) => time < middle));
    // The second read of a page begins where the first one ended.
    for (let read = 0; read < 2; read += 1)
      expect(await times(`&since=${middle}&pageSize=1`)).toEqual(newestFirst.slice(0, 1));
    expect((await merchant.call(`${all}/delivery-logs?since=yesterday`)).status).toBe(400);
    await patch({ enabled: false });
  });
});

describe('a delivery that a replay has brought', () => {
  it('is delivered: in the log, for operators who reset its workflow, and for a replay of what failed', async () => {
    const { merchant, receiver, log, id } = await subscribed(status(500), {
      retryPolicy: { maxAttempts: 2, backoffMs: 10 },
    });
    await award(merchant, (await merchant.enroll()).id);
    const failed = await settled({ log }, 'exhausted');
    receiver.setResponder(ok());
    await merchant.call(`${all}/delivery-logs/${failed.id}/replay`, { method: 'POST' });
    const brought = await until(async () => (await log()).find((item) => item.id === failed.id && item.success));
    expect(brought).toMatchObject({ state: 'succeeded', error: null, attempts: 2, nextAttemptAt: null });
    expect(brought.history.map(({ statusCode }) => statusCode)).toEqual([500, 500]);
    expect(await log('&success=false')).toEqual([]);
    const sent = receiver.requests.length;
    const worker = await startTestWorker(service);
    const ended = await postWebhook(worker.deps, {
      deliveryId: failed.id,
      attemptsLeft: 1,
      activityAttempt: { runId: 'a-reset-run', attempt: 1 },
      attemptsAtStart: undefined,
      saveAttemptsAtStart: () => {},
    });
    await worker.close();
    expect(ended).toEqual({ state: 'succeeded' });
    const since = new Date(Date.now() - 600_000).toISOString();
    const started = await merchant.call(`${all}/${id}/replay`, { body: { since } });
    const batch = await until(async () => {
      const { body } = await merchant.call(`/merchants/me/batches/${started.body.data.id}`);
      return body.data.phase === 'completed' && body.data;
    });
    expect(batch.counts.total).toBe(0);
    expect(receiver.requests).toHaveLength(sent);
  });
});

describe('retries', () => {
  it('wait longer each time, by the factor of the policy', async () => {
    const { merchant, log, id, patch } = await subscribed(status(500), {
      retryPolicy: { maxAttempts: 4, backoffMs: 200, factor: 3 },
    });
    const shown = await merchant.call(`${all}/${id}`);
    expect(shown.body.data.retryPolicy).toEqual({ maxAttempts: 4, backoffMs: 200, factor: 3 });
    await award(merchant, (await merchant.enroll()).id);
    const { history } = await settled({ log }, 'exhausted');
    const waits = history.slice(1).map(({ at }, index) => Date.parse(at) - Date.parse(history[index]?.at ?? ''));
    expect(waits).toHaveLength(3);
    for (const [index, least] of [200, 600, 1_800].entries()) expect(waits[index]).toBeGreaterThanOrEqual(least);
    const { body } = await patch({ retryPolicy: { backoffMs: 300 } });
    expect(body.data.retryPolicy).toEqual({ maxAttempts: 4, backoffMs: 300, factor: 1 });
    expect((await patch({ retryPolicy: { factor: 11 } })).status).toBe(400);
  });

  it('keep their place in the policy when its number of attempts is changed meanwhile', async () => {
    const { merchant, receiver, log, patch } = await subscribed(status(500), {
      retryPolicy: { maxAttempts: 4, backoffMs: 200, factor: 3 },
    });
    await award(merchant, (await merchant.enroll()).id);
    await receiver.waitFor(({ length }) => length === 2);
    await patch({ retryPolicy: { maxAttempts: 1, factor: 3 } });
    const { history } = await settled({ log }, 'exhausted');
    const waits = history.slice(1).map(({ at }, index) => Date.parse(at) - Date.parse(history[index]?.at ?? ''));
    expect(waits).toHaveLength(3);
    expect(waits[2]).toBeGreaterThanOrEqual(1_800);
  });

  it('wait the same time each time where a policy has no factor', async () => {
    const { merchant, id } = await subscribed();
    expect((await merchant.call(`${all}/${id}`)).body.data.retryPolicy).toEqual({ ...quick, factor: 1 });
  });
});

describe('a long log', () => {
  it('has complete pages, also when lines were added and removed since the last read', async () => {
    const { deliveries } = service.deps.collections;
    const merchantId = `merchant-${crypto.randomUUID()}`;
    const line = (at: number) =>
      ({
        _id: `${merchantId}-${at + 100}`,
        merchantId,
        success: false,
        createdAt: new Date(Date.now() + at * 1_000),
      }) as DeliveryRow;
    const expectPages = async () => {
      const failed = await deliveries.find({ merchantId, success: false }).toArray();
      const newestFirst = failed
        .map(({ _id }) => _id)
        .toSorted()
        .toReversed();
      for (const page of [1, 3, 2, 6]) {
        const { items } = await listDeliveries(service.deps, { merchantId, success: false, page, pageSize: 5 });
        expect(items.map(({ delivery }) => delivery._id)).toEqual(newestFirst.slice(5 * page - 5, 5 * page));
      }
    };
    await deliveries.insertMany(Array.from({ length: 32 }, (_, at) => line(at)));
    await expectPages();
    await updateByIds(service.deps, 'deliveries', {
      ids: [30, 22, 21, 8].map((at) => line(at)._id),
      change: { $set: { success: true } },
    });
    await expectPages();
    await deliveries.insertMany([line(40), line(41)]);
    await expectPages();
  });
});

describe('the log of one delivery', () => {
  it('keeps its newest hundred attempts with a limited text each, however often operators reset it', async () => {
    const { merchant, log } = await subscribed(status(302, { location: `/${'x'.repeat(5_000)}` }), {
      retryPolicy: { maxAttempts: 1, backoffMs: 0 },
    });
    await award(merchant, (await merchant.enroll()).id);
    const { id } = await settled({ log }, 'exhausted');
    const { deliveries } = service.deps.collections;
    const delivered = await deliveries.findOne({ _id: id });
    expect(delivered?.detail).toHaveLength(500);
    const fence = delivered?.fence ?? '';
    const worker = await startTestWorker(service);
    for (let attempt = 2; attempt <= 105; attempt += 1)
      await worker.deps.logAttempt({
        deliveryId: id,
        fence,
        set: { state: 'exhausted' },
        attempt: { attempt, at: new Date(), statusCode: 500, error: 'status', durationMs: 1 },
      });
    await worker.close();
    const delivery = await settled({ log }, 'exhausted');
    expect(delivery.attempts).toBe(105);
    expect(delivery.history.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 100 }, (_, at) => at + 6));
  });

  it('is removed after 30 days', async () => {
    const kept = await service.deps.collections.deliveries.indexes();
    expect(kept.find(({ key }) => Object.keys(key).join() === 'createdAt')?.expireAfterSeconds).toBe(30 * 86_400);
  });
});

it('the events of one member can be put in order by memberVersion without a gap', async () => {
  const { merchant, receiver } = await subscribed();
  const member = await merchant.enroll();
  for (let index = 0; index < 10; index += 1) await award(merchant, member.id, index);
  await receiver.waitFor((requests) => requests.length >= 10);
  const data = receiver.requests.map((request) => envelopeOf(request).data);
  const inOrder = data.toSorted((a, b) => a.memberVersion - b.memberVersion);
  expect(inOrder.map((event) => event.memberVersion)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  for (const [index, event] of inOrder.entries())
    expect(event.previous).toBe(index === 0 ? 0 : inOrder[index - 1].current);
});
