// The main job: enroll, award, redeem, and the webhook that arrives, on real engines.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['*']);
  merchant = subscribed.merchant;
});

afterAll(() => subscribed.stop());

const arrived = (eventType: string, memberId: string) =>
  until(() =>
    subscribed.receiver.requests
      .filter((request) => request.headers['x-service-webhook-event'] === eventType)
      .map((request) => ({ request, envelope: JSON.parse(request.body.toString('utf8')) }))
      .find(({ envelope }) => envelope.data.memberId === memberId),
  );

describe('the main job', () => {
  it('enrolls a member, awards points, redeems, and delivers a webhook with a valid signature for each', async () => {
    const member = await merchant.enroll({ firstName: 'Ada', email: 'Ada@Example.com', initialPoints: 95 });
    expect(member.memberCode).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/);
    expect(member.email).toBe('ada@example.com');

    const points = await merchant.call(`/merchants/me/members/${member.id}/points`, {
      method: 'PATCH',
      body: { delta: 10, changeMessage: 'Ten more' },
    });
    expect(points.status).toBe(200);
    expect(points.body.data).toMatchObject({ previous: 95, current: 105, member: { fieldValues: { points: 105 } } });

    const redeemed = await merchant.call(`/merchants/me/members/${member.id}/redeem`, { method: 'POST' });
    expect(redeemed.body.data).toMatchObject({ previous: 105, current: 5 });

    for (const eventType of ['member.created', 'points.changed', 'reward.redeemed']) {
      const { request, envelope } = await arrived(eventType, member.id);
      const timestamp = String(request.headers['x-service-webhook-timestamp']);
      const expected = createHmac('sha256', subscribed.secret)
        .update(`${timestamp}.`)
        .update(request.body)
        .digest('hex');
      expect(request.headers['x-service-webhook-signature']).toBe(`sha256=${expected}`);
      expect(request.headers['user-agent']).toBe('service-webhook/1.0');
      expect(envelope).toMatchObject({
        specversion: '1.0',
        type: `cards.service.${eventType}`,
        event: eventType,
        tenantId: merchant.id,
        data: { memberCode: member.memberCode, merchantId: merchant.id },
      });
    }
  });
});
