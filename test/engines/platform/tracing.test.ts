// One trace leads from the caller's span over the request to each attempt of the webhook, also when the relay delivers
// it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import type { Receiver } from '../../rig/standins/receiver.js';
import { failThenOk } from '../../rig/standins/responders.js';
import { startTraceCollector, type TraceCollector } from '../../rig/standins/traceCollector.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let collector: TraceCollector;
let subscribed: SubscribedService;
let merchant: TestMerchant;
let receiver: Receiver;

beforeAll(async () => {
  collector = await startTraceCollector();
  // No change gets a workflow of its own: the relay, which does not know the request, must continue its trace.
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`, CHANGE_WORKFLOWS_PER_SECOND: '0' };
  const retryPolicy = { maxAttempts: 3, backoffMs: 0 };
  subscribed = await startSubscribedService(['points.changed'], { retryPolicy }, { env });
  ({ merchant, receiver } = subscribed);
});
afterAll(async () => {
  await subscribed.stop();
  await collector.stop();
});

const callersSpan = '00f067aa0ba902b7';
const traceparentOf = (traceId: string) => `00-${traceId}-${callersSpan}-01`;
const spansOf = (traceId: string, count: number) =>
  until(() => {
    const spans = collector.spans.filter((span) => span.traceId === traceId);
    return spans.length >= count && spans;
  });
const attributesOf = ({ attributes }: TraceCollector['spans'][number]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

describe('a trace', () => {
  it('leads from the caller to every attempt of the delivery', async () => {
    const { id } = await merchant.enroll();
    receiver.setResponder(failThenOk(1));
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    await merchant.call(`/merchants/me/members/${id}/points`, {
      method: 'PATCH',
      headers: { traceparent: traceparentOf(traceId) },
      body: { delta: 5 },
    });
    const spans = await spansOf(traceId, 3);
    const [request] = spans.filter(({ parentSpanId }) => parentSpanId === callersSpan);
    if (!request) throw new Error('The request has no span.');
    expect(request.name).toBe('PATCH /api/v1/merchants/me/members/:id/points');
    expect(attributesOf(request)).toMatchObject({
      'http.response.status_code': 200,
      'loyalty.merchant.id': merchant.id,
    });
    const attempts = spans.filter(({ parentSpanId }) => parentSpanId === request.spanId);
    expect(attempts.map(({ name }) => name)).toEqual(['deliver points.changed', 'deliver points.changed']);
    expect(attempts.map((span) => attributesOf(span)['http.response.status_code'])).toEqual([500, 204]);
    expect(attempts.map((span) => attributesOf(span)['loyalty.delivery.attempt'])).toEqual([1, 2]);
    expect(attempts.map((span) => span.status.code)).toEqual([2, 0]);
  });

  it('contains no personal data, also for refused requests', async () => {
    const person = { firstName: 'Canary', lastName: 'Birdsong', email: 'canary.birdsong@example.com' };
    const before = collector.spans.length;
    const { body } = await merchant.call('/merchants/me/members', {
      body: { programId: (await merchant.program())._id, ...person },
    });
    expect(body.success).toBe(true);
    await merchant.call(`/merchants/me/members?q=birdsong`);
    await merchant.call('/merchants/me/members', { body: { ...person, initialPoints: -1 } });
    await until(() => collector.spans.length >= before + 3);
    expect(JSON.stringify(collector.spans)).not.toMatch(/canary|birdsong/i);
  });

  it('starts anew when the caller sends no trace or an invalid one', async () => {
    const before = collector.spans.length;
    await merchant.call('/merchants/me/programs');
    await merchant.call('/merchants/me/programs', { headers: { traceparent: 'nonsense' } });
    const fresh = await until(() => {
      const spans = collector.spans.slice(before).filter(({ name }) => name.endsWith('/merchants/me/programs'));
      return spans.length >= 2 && spans;
    });
    expect(fresh.every(({ parentSpanId }) => !parentSpanId)).toBe(true);
    expect(new Set(fresh.map(({ traceId }) => traceId)).size).toBe(2);
  });
});
