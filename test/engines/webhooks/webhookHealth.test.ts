// The health of a subscription as its owner sees it: it is disabled only with a reason, and no event is lost while it
// is disabled.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordHealth } from '../../../activities/webhooks/subscriptionHealth.writes.js';
import type { SubscriptionRow } from '../../../schemas/webhooks/webhooks.rows.js';
import { webhooks } from '../../../stack/commands/webhooks.js';
import { until } from '../../rig/checks/until.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { runOn } from '../../rig/start/commandLine.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';
import { startTestWorker } from '../../rig/start/testWorker.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;
let receiver: Receiver;
let id: string;
let code: string;

const day = 86_400_000;
const path = () => `/merchants/me/webhooks/${id}`;
const healthOf = async () => (await merchant.call(path())).body.data.health;
const healthBecomes = (state: string) =>
  until(async () => {
    const health = await healthOf();
    return health.state === state && health;
  });
const happens = () => merchant.call('/merchants/me/scans', { body: { code } });

beforeAll(async () => {
  subscribed = await startSubscribedService(['pass.scanned'], { retryPolicy: { maxAttempts: 1, backoffMs: 0 } });
  ({ service, merchant, receiver, subscriptionId: id } = subscribed);
  code = (await merchant.enroll()).memberCode;
});
afterAll(() => subscribed.stop());

describe('the health of a subscription', () => {
  it('is failing from the first failure on, and ok again after a success', async () => {
    receiver.setResponder((_request, answer) => answer.writeHead(500).end());
    await happens();
    const failing = await healthBecomes('failing');
    expect(failing).toMatchObject({ consecutiveFailures: 1, lastSuccessAt: null });
    expect(Date.now() - Date.parse(failing.failingSince)).toBeLessThan(300_000);

    receiver.setResponder((_request, answer) => answer.writeHead(204).end());
    await happens();
    const ok = await healthBecomes('ok');
    expect(ok).toMatchObject({ failingSince: null, consecutiveFailures: 0, lastSuccessAt: expect.any(String) });
  });

  it('is never failing without the time of the first failure', async () => {
    const { deps, close } = await startTestWorker(service);
    const { subscriptions } = deps.collections;
    const subscription = await subscriptions.findOne({ _id: id });
    if (!subscription) throw new Error('The subscription is gone.');
    const seen: SubscriptionRow['health'][] = [];
    const watched = new Proxy(subscriptions, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return async (...given: unknown[]) => {
          const answer = await value.apply(target, given);
          const stored = await subscriptions.findOne({ _id: id });
          if (stored) seen.push(stored.health);
          return answer;
        };
      },
    });
    const watching = { ...deps, collections: { ...deps.collections, subscriptions: watched } };
    for (const ok of [false, false, true, false, true])
      await recordHealth(watching, { subscription, result: { ok, error: ok ? null : 'status' } });
    await close();
    expect(seen.length).toBeGreaterThanOrEqual(5);
    for (const { consecutiveFailures, failingSince } of seen)
      expect([consecutiveFailures > 0, failingSince !== null]).toEqual(Array(2).fill(consecutiveFailures > 0));
  });

  it('says within seconds when the latest success was', async () => {
    for (let round = 0; round < 2; round += 1) {
      const before = receiver.requests.length;
      await happens();
      await receiver.waitFor((requests) => requests.length > before);
    }
    const latest = Date.now();
    await until(async () => Date.parse((await healthOf()).lastSuccessAt) >= latest - 200);
  });

  it('is judged by what is stored when a failure began before the latest success', async () => {
    let answerLate = () => {};
    receiver.setResponder((_request, answer) => {
      answerLate = () => answer.writeHead(500).end();
    });
    const longAgo = { 'health.failingSince': new Date(Date.now() - 6 * day), 'health.consecutiveFailures': 9 };
    await service.deps.collections.subscriptions.updateOne({ _id: id }, { $set: longAgo });
    const before = receiver.requests.length;
    await happens();
    await receiver.waitFor((requests) => requests.length > before);
    receiver.setResponder((_request, answer) => answer.writeHead(204).end());
    await happens();
    await healthBecomes('ok');
    const late = Date.now();
    answerLate();
    const failing = await healthBecomes('failing');
    expect(failing.consecutiveFailures).toBe(1);
    expect(Date.parse(failing.failingSince)).toBeGreaterThanOrEqual(late - 50);
    await happens();
    await healthBecomes('ok');
  });

  it('is disabled after five days of failures only, with the reason, and later events are logged as skipped', async () => {
    receiver.setResponder((_request, answer) => answer.writeHead(500).end());
    const since = new Date(Date.now() - 5 * day - 60_000);
    await service.deps.collections.subscriptions.updateOne({ _id: id }, { $set: { 'health.failingSince': since } });
    await happens();
    expect(await healthBecomes('disabled')).toMatchObject({
      disabledReason: 'failing',
      failingSince: since.toISOString(),
    });
    const counted = await service.deps.metrics.registry.getSingleMetricAsString('lps_subscriptions_disabled_total');
    expect(counted).toContain('lps_subscriptions_disabled_total{reason="failing"} 1');
    const listed = await runOn(service, webhooks, ['failing']);
    expect(listed.lines.find((line) => line.startsWith(id))).toContain('disabled: failing');
    await happens();
    const [skipped] = await until(async () => {
      const { body } = await merchant.call(`/merchants/me/webhooks/delivery-logs?subscriptionId=${id}`);
      const items = body.data.items.filter((item: { state: string }) => item.state === 'skipped');
      return items.length > 0 && items;
    });
    expect(skipped).toMatchObject({ error: 'disabled', attempts: 0, success: false });
  });

  it('is reset when the owner enables the subscription', async () => {
    await merchant.call(path(), { method: 'PATCH', body: { enabled: true } });
    expect(await healthOf()).toEqual({
      state: 'ok',
      failingSince: null,
      lastSuccessAt: expect.any(String),
      consecutiveFailures: 0,
    });
  });

  it('is disabled at once when the receiver answers 410, and another subscription receives one event', async () => {
    const watcher = await startReceiver();
    await merchant.call('/merchants/me/webhooks', { body: { url: watcher.url, events: ['webhook.disabled'] } });
    receiver.setResponder((_request, answer) => answer.writeHead(410).end());
    await Promise.all([happens(), happens(), happens()]);
    const { failingSince, ...health } = await healthBecomes('disabled');
    expect(health).toMatchObject({ disabledReason: 'gone' });
    const data = { subscriptionId: id, url: receiver.url, reason: 'gone', failingSince };
    const received = () => watcher.requests.map(({ body }) => JSON.parse(body.toString('utf8')).data);
    await watcher.waitFor(() => received().some(({ reason }) => reason === 'gone'));
    expect(received().filter(({ reason }) => reason === 'gone')).toEqual([data]);
    await watcher.stop();
  });

  it('does not overwrite a change of the owner during an attempt', async () => {
    await merchant.call(path(), { method: 'PATCH', body: { enabled: true } });
    let answer410 = () => {};
    receiver.setResponder((_request, answer) => {
      answer410 = () => answer.writeHead(410).end();
    });
    const before = receiver.requests.length;
    const since = new Date();
    await happens();
    await receiver.waitFor((requests) => requests.length > before);
    await merchant.call(path(), { method: 'PATCH', body: { url: `${receiver.url}/moved` } });
    answer410();
    await until(() =>
      service.deps.collections.deliveries.findOne({
        subscriptionId: id,
        state: 'exhausted',
        error: 'gone',
        url: receiver.url,
        createdAt: { $gte: since },
      }),
    );
    expect(await healthOf()).toMatchObject({ state: 'ok', consecutiveFailures: 0 });
  });

  it('has no reason when the owner disabled the subscription', async () => {
    await merchant.call(path(), { method: 'PATCH', body: { enabled: true } });
    await merchant.call(path(), { method: 'PATCH', body: { enabled: false } });
    expect(await healthOf()).not.toHaveProperty('disabledReason');
    expect((await healthOf()).state).toBe('disabled');
  });
});
