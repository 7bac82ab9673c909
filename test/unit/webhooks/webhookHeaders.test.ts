// The headers of an attempt.
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { webhookHeaders } from '../../../schemas/webhooks/headers.rules.js';
import { signService } from '../../../schemas/webhooks/signature.rules.js';

const body = Buffer.from('{"event":"points.changed"}');
const attempt = { eventType: 'points.changed', eventId: 'evt_1', subscriptionId: 'sub_1', body };
const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'the one before it'];

describe('the headers of an attempt', () => {
  it('are those of the interface, signed with the newest secret', () => {
    const now = new Date('2026-11-21T04:00:00.123Z');
    expect(webhookHeaders({ ...attempt, secrets, now })).toMatchObject({
      'X-Service-Webhook-Event': 'points.changed',
      'X-Service-Webhook-Timestamp': '2026-11-21T04:00:00.123Z',
      'X-Service-Webhook-Subscription': 'sub_1',
      'X-Service-Webhook-Signature': signService(secrets[0] ?? '', '2026-11-21T04:00:00.123Z', body),
      'User-Agent': 'service-webhook/1.0',
      'Content-Type': 'application/json',
      'Accept-Encoding': 'identity',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1795233600',
    });
  });

  it('verify with the standardwebhooks library under the newest and the previous secret', () => {
    const headers = webhookHeaders({ ...attempt, secrets, now: new Date() });
    expect(new Webhook(secrets[0] ?? '').verify(body, headers)).toEqual({ event: 'points.changed' });
    expect(new Webhook(secrets[1] ?? '', { format: 'raw' }).verify(body, headers)).toEqual({ event: 'points.changed' });
  });

  it('have no signature when the subscription has no secret', () => {
    const names = Object.keys(webhookHeaders({ ...attempt, secrets: [], now: new Date() }));
    expect(names.filter((name) => /signature|^webhook-/i.test(name))).toEqual([]);
    expect(names).toContain('X-Service-Webhook-Timestamp');
  });
});
