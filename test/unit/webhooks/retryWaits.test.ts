// How long a delivery waits between its attempts.
import { describe, expect, it } from 'vitest';
import { retryWaitMs } from '../../../schemas/webhooks/retries.rules.js';
import { subscriptionRequest } from '../../../schemas/webhooks/webhooks.schema.js';

const hour = 3_600_000;
const requested = (policy?: object) =>
  subscriptionRequest.parse({ url: 'https://example.com', events: ['*'], ...(policy && { retryPolicy: policy }) });

describe('the wait before an attempt', () => {
  it('is the one before times the factor, 24 hours at most', () => {
    const policy = { backoffMs: 30_000, factor: 4 };
    const waits = [1, 2, 3, 4, 5, 6, 7].map((attempt) => retryWaitMs(policy, attempt) / 1_000);
    expect(waits).toEqual([30, 120, 480, 1_920, 7_680, 30_720, 86_400]);
    expect(waits.reduce((sum, wait) => sum + wait, 0) / 3_600).toBeCloseTo(35.4, 1);
    expect(retryWaitMs({ backoffMs: 86_400_000, factor: 10 }, 20)).toBe(24 * hour);
  });

  it('is always the same with factor 1, which a policy without a factor has', () => {
    expect([1, 5, 20].map((attempt) => retryWaitMs({ backoffMs: 700 }, attempt))).toEqual([700, 700, 700]);
    expect(requested({ maxAttempts: 3 }).retryPolicy).toEqual({ maxAttempts: 3, backoffMs: 30_000, factor: 1 });
    expect(requested({}).retryPolicy.factor).toBe(1);
    expect(requested().retryPolicy).toEqual({ maxAttempts: 8, backoffMs: 30_000, factor: 4 });
  });
});
