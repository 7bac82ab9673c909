// Receivers that answer late delay only their own deliveries, not those of another merchant. Ages are compared with a
// quiet run on the same machine just before.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { ok, slow } from '../../rig/standins/responders.js';
import {
  type Audience,
  type Audiences,
  agesOf,
  atMost,
  changes,
  medianAtMost,
  startAudiences,
} from '../../rig/start/audiences.js';

let audiences: Audiences;

beforeAll(async () => {
  audiences = await startAudiences();
});
afterAll(() => audiences.stop());

/** Longer than a measurement, and half the timeout, so that the answer arrives in time even on a slow machine. */
const answersAfterMs = 15_000;

describe('receivers that answer after 15 s, of a merchant with 20 subscriptions', () => {
  it('do not delay the deliveries of another merchant, and get all of their own', async () => {
    const { service, anAudience, open } = audiences;
    const watched = await anAudience();
    const agesBeside = async (other: Audience) => {
      const both = [agesOf(watched, { count: 80, everyMs: 100 }), changes(other, { count: 40, everyMs: 200 })] as const;
      return (await Promise.all(both))[0];
    };
    const quick = await anAudience({ subscriptions: 20 });
    const patient = await anAudience({ responder: slow(answersAfterMs), subscriptions: 20 });
    await agesBeside(quick);
    const besideQuick = await agesBeside(quick);
    const besideSlow = await agesBeside(patient);
    console.log('  ages next to quick receivers and next to slow ones', besideQuick, besideSlow);
    expect(besideSlow.p95).toBeLessThan(atMost(besideQuick.p95));
    expect(besideSlow.p50).toBeLessThan(medianAtMost(besideQuick.p50));

    // None of them is lost: the receivers now answer at once.
    patient.receiver.setResponder(ok());
    await until(async () => (await open(patient.merchant.id)) === 0, { withinMs: 120_000, everyMs: 250 });
    const came = new Set(patient.receiver.requests.map(({ path, headers }) => `${path} ${headers['webhook-id']}`));
    expect(came.size).toBe(40 * 20);
    // Every request that was sent is in the delivery log.
    const deliveries = await service.deps.collections.deliveries.find({ merchantId: patient.merchant.id }).toArray();
    const attempts = deliveries.reduce((sum, delivery) => sum + delivery.attempts, 0);
    expect(patient.receiver.requests).toHaveLength(attempts);
  }, 240_000);
});
