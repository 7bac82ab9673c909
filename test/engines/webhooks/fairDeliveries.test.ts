// A receiver that is slow or hangs delays only its own deliveries: not those of other merchants, and not those of other
// subscriptions of its merchant. Ages are compared with a quiet run on the same machine just before.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import type { Responder } from '../../rig/standins/receiver.js';
import { hang, ok, slow } from '../../rig/standins/responders.js';
import { type Audiences, agesOf, atMost, changes, medianAtMost, startAudiences } from '../../rig/start/audiences.js';

let audiences: Audiences;

beforeAll(async () => {
  audiences = await startAudiences();
});
afterAll(() => audiences.stop());

/** Longer than publishing waits for an attempt, and far less than the timeout. */
const answersAfterMs = 5_000;

describe('a worker that stops', () => {
  it('leaves its background deliveries and the queue to the next worker', async () => {
    const { service, anAudience, open } = audiences;
    const patient = await anAudience({ responder: slow(answersAfterMs), subscriptions: 2 });
    await changes(patient, { count: 60, everyMs: 0 });
    await until(async () => {
      const { deliveries, events } = service.deps.collections;
      const { id: merchantId } = patient.merchant;
      const unpublished = await events.countDocuments({ merchantId, state: 'new' });
      return unpublished === 0 && (await deliveries.countDocuments({ merchantId, state: 'pending' })) > 0;
    });
    await service.stopWorker();
    patient.receiver.setResponder(ok());
    await service.startWorker();
    await until(async () => (await open(patient.merchant.id)) === 0, { everyMs: 250 });
    const succeeded = { merchantId: patient.merchant.id, state: 'succeeded' as const };
    expect(await service.deps.collections.deliveries.countDocuments(succeeded)).toBe(120);
    const { waitingSubscriptions } = service.deps.collections;
    await until(async () => (await waitingSubscriptions.findOne({ merchantId: patient.merchant.id })) === null);
  });
});

type Ages = Awaited<ReturnType<typeof agesOf>>;
const smallerOf = (one: Ages, other: Ages): Ages => ({
  p50: Math.min(one.p50, other.p50),
  p95: Math.min(one.p95, other.p95),
});

describe('a receiver that hangs', () => {
  it('delays neither the deliveries to another receiver of its merchant nor those of another merchant', async () => {
    const load = { count: 100, everyMs: 20 };
    const agesBeside = async (responder: Responder) => {
      const [audience, other] = [await audiences.anAudience(), await audiences.anAudience()];
      await audience.subscribe((await audiences.aReceiver(responder)).url);
      return Promise.all([agesOf(audience, load), agesOf(other, load)]);
    };
    await agesBeside(ok());
    const besideQuick = await agesBeside(ok());
    const limits = besideQuick.map(({ p50, p95 }) => ({ p50: medianAtMost(p50), p95: atMost(p95) }));
    let besideHung = await agesBeside(hang());
    const isWithin = limits.every(({ p50, p95 }, at) => {
      const ages = besideHung[at];
      return ages !== undefined && ages.p50 < p50 && ages.p95 < p95;
    });
    // Other work on the machine may fall into one measure only; a wait for the receiver that hangs shows in both.
    if (!isWithin) {
      console.log('  measured once more, after', besideQuick, besideHung);
      const [own, others] = await agesBeside(hang());
      besideHung = [smallerOf(besideHung[0], own), smallerOf(besideHung[1], others)];
    }
    console.log('  ages next to a quick receiver and next to one that hangs', besideQuick, besideHung);
    for (const [at, limit] of limits.entries()) {
      expect(besideHung[at]?.p95).toBeLessThan(limit.p95);
      expect(besideHung[at]?.p50).toBeLessThan(limit.p50);
    }
  });
});
