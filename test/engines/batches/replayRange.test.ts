// The replay of a range of events: the same ids and bytes, to one subscription, at a limited rate, and an event at its
// end.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryWorkflowId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { aGate } from '../../rig/standins/gate.js';
import { type Received, type Receiver, type Responder, startReceiver } from '../../rig/standins/receiver.js';
import { hang } from '../../rig/standins/responders.js';
import { csvOf, sendImport } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const ok: Responder = (_request, answer) => answer.writeHead(204).end();
const broken: Responder = (_request, answer) => answer.writeHead(500).end();

let service: TestService;

beforeAll(async () => {
  service = await startService({ env: { REPLAY_PER_SECOND: '20', CHANGE_WORKFLOWS_PER_SECOND: '0' } });
});
afterAll(() => service.stop());

interface Scene {
  merchant: TestMerchant;
  receiver: Receiver;
  subscribe: (fields?: Record<string, unknown>) => Promise<string>;
  scan: (times: number) => Promise<void>;
  replay: (id: string, body: Record<string, unknown>) => Promise<string>;
  stop: () => Promise<void>;
}

const longAgo = '2020-01-01T00:00:00Z';

async function aScene(): Promise<Scene> {
  const merchant = await aMerchant(service);
  const receiver = await startReceiver();
  const { memberCode } = await merchant.enroll();
  const { events, deliveries } = service.deps.collections;
  const quiet = () =>
    until(async () => {
      if (await events.findOne({ merchantId: merchant.id, state: 'new' })) return false;
      return (await deliveries.countDocuments({ merchantId: merchant.id, state: 'pending' })) === 0;
    });
  // The events of the enrollment must not arrive among the scans.
  await quiet();
  return {
    merchant,
    receiver,
    async subscribe(fields = {}) {
      const { body } = await merchant.call('/merchants/me/webhooks', {
        body: {
          url: receiver.url,
          events: ['pass.scanned'],
          retryPolicy: { maxAttempts: 1, backoffMs: 0 },
          ...fields,
        },
      });
      return body.data.id;
    },
    async scan(times) {
      for (let count = 0; count < times; count += 1)
        await merchant.call('/merchants/me/scans', { body: { code: memberCode } });
      await quiet();
    },
    async replay(id, body) {
      const answer = await merchant.call(`/merchants/me/webhooks/${id}/replay`, { body });
      expect([answer.status, answer.body.data?.kind, answer.body.data?.phase]).toEqual([
        202,
        'webhooks.replay',
        'queued',
      ]);
      return answer.body.data.id;
    },
    stop: () => receiver.stop(),
  };
}

async function ended({ merchant }: Scene, batchId: string) {
  return until(async () => {
    const { body } = await merchant.call(`/merchants/me/batches/${batchId}`);
    return ['completed', 'failed', 'cancelled'].includes(body.data.phase) && body.data;
  });
}

const idOf = (request: Received): string => JSON.parse(request.body.toString('utf8')).eventId;

describe('a replay of failed deliveries', () => {
  it('sends them with their original ids and bytes, and leaves none for a second replay', async () => {
    const scene = await aScene();
    const { merchant, receiver } = scene;
    const id = await scene.subscribe();
    await scene.scan(1);
    receiver.setResponder(broken);
    await scene.scan(2);
    const failed = receiver.requests.splice(0).slice(1);
    receiver.setResponder(ok);

    const batch = await ended(scene, await scene.replay(id, { since: longAgo }));
    expect(batch).toMatchObject({
      phase: 'completed',
      counts: { total: 2, created: 2, deduped: 0, failed: 0 },
      percent: 100,
    });
    expect(receiver.requests.map(idOf).sort()).toEqual(failed.map(idOf).sort());
    for (const request of receiver.requests)
      expect(failed.find((first) => idOf(first) === idOf(request))?.body).toEqual(request.body);

    const log = await merchant.call(`/merchants/me/webhooks/delivery-logs?subscriptionId=${id}&success=true`);
    const replays = log.body.data.items.filter((item: { replayOf?: string }) => item.replayOf);
    expect(replays).toHaveLength(2);
    const original = await service.deps.collections.deliveries.findOne({ _id: replays[0].replayOf });
    expect(original).toMatchObject({ eventId: replays[0].eventId, state: 'succeeded', history: [{ statusCode: 500 }] });

    const again = await ended(scene, await scene.replay(id, { since: longAgo }));
    expect(again.counts.total).toBe(0);
    await scene.stop();
  });

  it("is retried by the subscription's policy when the receiver fails again", async () => {
    const scene = await aScene();
    const { receiver } = scene;
    receiver.setResponder(broken);
    const id = await scene.subscribe();
    await scene.scan(1);
    await scene.merchant.call(`/merchants/me/webhooks/${id}`, {
      method: 'PATCH',
      body: { retryPolicy: { maxAttempts: 5, backoffMs: 50 } },
    });
    const before = receiver.requests.length;
    receiver.setResponder((request, answer) =>
      receiver.requests.length < before + 2 ? broken(request, answer) : ok(request, answer),
    );
    const batch = await ended(scene, await scene.replay(id, { since: longAgo }));
    expect(batch.counts).toEqual({ total: 1, created: 0, deduped: 0, failed: 1 });
    await until(() =>
      service.deps.collections.deliveries.findOne({ subscriptionId: id, state: 'succeeded', attempts: 2 }),
    );
    await scene.stop();
  });
});

describe('a failed event', () => {
  it('is one whose latest delivery failed, replays of replays included', async () => {
    const scene = await aScene();
    const { merchant, receiver } = scene;
    const id = await scene.subscribe();
    const { deliveries } = service.deps.collections;
    const replayed = async (of: string) => {
      const before = await deliveries.countDocuments({ subscriptionId: id });
      const path = `/merchants/me/webhooks/delivery-logs/${of}/replay`;
      expect((await merchant.call(path, { method: 'POST' })).status).toBe(200);
      await until(async () => (await deliveries.countDocuments({ subscriptionId: id })) > before);
      return until(() => deliveries.findOne({ replayOf: of, state: { $in: ['succeeded', 'exhausted'] } }));
    };
    const stillFailed = async () => (await ended(scene, await scene.replay(id, { since: longAgo }))).counts.total;

    receiver.setResponder(broken);
    await scene.scan(1);
    const original = await until(() => deliveries.findOne({ subscriptionId: id, state: 'exhausted' }));
    const replay = await replayed(original._id);
    expect(replay.state).toBe('exhausted');
    receiver.setResponder(ok);
    const again = await replayed(replay._id);
    expect(again).toMatchObject({ state: 'succeeded', eventId: original.eventId });
    expect(await stillFailed()).toBe(0);

    receiver.setResponder(broken);
    expect((await replayed(again._id)).state).toBe('exhausted');
    receiver.setResponder(ok);
    expect(await stillFailed()).toBe(1);
    expect(await stillFailed()).toBe(0);
    await scene.stop();
  });

  it('does not include one with a delivery in progress', async () => {
    const scene = await aScene();
    scene.receiver.setResponder(broken);
    const id = await scene.subscribe({ retryPolicy: { maxAttempts: 2, backoffMs: 86_400_000 } });
    await scene.scan(1);
    await until(() => service.deps.collections.deliveries.findOne({ subscriptionId: id, state: 'retrying' }));
    const batch = await ended(scene, await scene.replay(id, { since: longAgo }));
    expect(batch.counts.total).toBe(0);
    await scene.stop();
  });

  it('includes one whose delivery hangs: its next attempt is long overdue', async () => {
    const scene = await aScene();
    const { deliveries } = service.deps.collections;
    scene.receiver.setResponder(broken);
    const id = await scene.subscribe({ retryPolicy: { maxAttempts: 2, backoffMs: 86_400_000 } });
    await scene.scan(2);
    await until(async () => (await deliveries.countDocuments({ subscriptionId: id, state: 'retrying' })) === 2);
    const [hanging] = await deliveries.find({ subscriptionId: id }).toArray();
    if (!hanging) throw new Error('No delivery.');
    await service.client.workflow.getHandle(deliveryWorkflowId(hanging.eventId, id)).terminate('by a test');
    const dayAgo = new Date(Date.now() - 86_400_000);
    await deliveries.updateOne({ _id: hanging._id }, { $set: { nextAttemptAt: dayAgo, dueAt: dayAgo } });
    scene.receiver.setResponder(ok);
    const before = scene.receiver.requests.length;
    const batch = await ended(scene, await scene.replay(id, { since: longAgo }));
    expect(batch.counts).toMatchObject({ total: 1, created: 1 });
    expect(scene.receiver.requests.slice(before).map(idOf)).toEqual([hanging.eventId]);
    await scene.stop();
  });
});

describe('a replay of all events', () => {
  it('sends the events of the range that its types select, including those from before its creation', async () => {
    const scene = await aScene();
    await scene.scan(2);
    const since = new Date().toISOString();
    await scene.scan(3);
    const untilThen = new Date().toISOString();
    await scene.scan(1);
    const id = await scene.subscribe();
    const batch = await ended(scene, await scene.replay(id, { since, until: untilThen, only: 'all' }));
    expect(batch.counts).toEqual({ total: 3, created: 3, deduped: 0, failed: 0 });
    expect(new Set(scene.receiver.requests.map(idOf)).size).toBe(3);
    for (const request of scene.receiver.requests)
      expect(request.headers['x-service-webhook-event']).toBe('pass.scanned');
    const completed = await until(() =>
      service.deps.collections.events.findOne({ merchantId: scene.merchant.id, type: 'batch.completed' }),
    );
    expect(completed.data).toMatchObject({ batchId: batch.id, kind: 'webhooks.replay', counts: { total: 3 } });
    await scene.stop();
  });

  it('keeps to its rate, and ends early when it is cancelled', async () => {
    const scene = await aScene();
    await scene.scan(110);
    const id = await scene.subscribe({ timeoutMs: 30_000 });
    const { receiver, merchant } = scene;
    // The others are answered after the cancellation, so that it comes before the end, however slow the machine is.
    const { open: cancelled, opened: cancellation } = aGate();
    receiver.setResponder(async (request, answer) => {
      if (receiver.requests.length > 30) await cancellation;
      ok(request, answer);
    });
    const batchId = await scene.replay(id, { since: longAgo, only: 'all' });
    await receiver.waitFor((requests) => requests.length >= 30);
    const [first, ...rest] = receiver.requests.slice(0, 30);
    const thirtieth = rest.at(-1);
    // Intervals of 50 ms; a stall of the machine may shorten some of them.
    expect(Number(thirtieth?.at) - Number(first?.at)).toBeGreaterThan(500);
    await merchant.call(`/merchants/me/batches/${batchId}/cancel`, { method: 'POST' });
    cancelled();
    const batch = await ended(scene, batchId);
    expect(batch.phase).toBe('cancelled');
    expect(batch.counts.total).toBe(110);
    expect(receiver.requests.length).toBeLessThan(110);
    expect(new Set(receiver.requests.map(idOf)).size).toBe(receiver.requests.length);
    await scene.stop();
  });
});

it('replays that wait for slow receivers do not delay an import', async () => {
  const scene = await aScene();
  const { merchant, receiver } = scene;
  const { _id: programId } = await merchant.program();
  await scene.scan(1);
  receiver.setResponder(hang());
  const id = await scene.subscribe({ timeoutMs: 30_000 });
  // More replays than may run at the same time.
  await Promise.all(Array.from({ length: 12 }, () => scene.replay(id, { since: longAgo, only: 'all' })));
  await receiver.waitFor((requests) => requests.length >= 8);
  const answer = await sendImport(merchant, { programId, file: csvOf(3) });
  expect([answer.status, answer.body.data?.counts.created]).toEqual([200, 3]);
  expect(receiver.underWay()).toBeGreaterThanOrEqual(8);
  await scene.stop();
});

describe('an impossible replay', () => {
  it('is refused for a subscription that is disabled, unknown or of another merchant, and without a range', async () => {
    const scene = await aScene();
    const id = await scene.subscribe();
    const call = (path: string, body: unknown, merchant = scene.merchant) =>
      merchant.call(`/merchants/me/webhooks/${path}/replay`, { body });
    const other = await aMerchant(service);
    expect((await call(id, { since: longAgo }, other)).body.error.code).toBe('WEBHOOK_NOT_FOUND');
    expect((await call('nobody', { since: longAgo })).body.error.code).toBe('WEBHOOK_NOT_FOUND');
    const wrong = [{}, { since: 'yesterday' }, { since: longAgo, until: longAgo }, { since: longAgo, only: 'some' }];
    for (const body of [...wrong, { since: longAgo, rate: 5 }])
      expect([body, (await call(id, body)).status]).toEqual([body, 400]);
    await scene.merchant.call(`/merchants/me/webhooks/${id}`, { method: 'PATCH', body: { enabled: false } });
    expect((await call(id, { since: longAgo })).status).toBe(400);
    await scene.stop();
  });

  it('ends as failed, with the reason, when its subscription is deleted while it runs', async () => {
    const scene = await aScene();
    await scene.scan(1);
    const id = await scene.subscribe();
    await service.stopWorker();
    const batchId = await scene.replay(id, { since: longAgo, only: 'all' });
    await scene.merchant.call(`/merchants/me/webhooks/${id}`, { method: 'DELETE' });
    await service.startWorker();
    expect(await ended(scene, batchId)).toMatchObject({ phase: 'failed', reason: 'The subscription was deleted.' });
    await scene.stop();
  });
});
