// A receiver that is slow, hangs or refuses delays only its own deliveries: not those of other merchants, and not those
// of other subscriptions of its merchant. Ages are compared with a quiet run on the same machine just before.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { type Received, type Receiver, type Responder, startReceiver } from '../../rig/standins/receiver.js';
import { hang, ok, slow } from '../../rig/standins/responders.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
const receivers: Receiver[] = [];

beforeAll(async () => {
  // All events of all merchants are published by one relay.
  service = await startService({ env: { CHANGE_WORKFLOWS_PER_SECOND: '0' } });
});
afterAll(async () => {
  for (const receiver of receivers) receiver.setResponder(ok());
  await service.stop();
  await Promise.all(receivers.map((receiver) => receiver.stop()));
});

interface Audience {
  merchant: TestMerchant;
  memberId: string;
  receiver: Receiver;
  subscribe: (url: string) => Promise<string>;
}

/** A merchant with a member, and subscriptions that all go to one receiver with this responder. */
async function anAudience({
  responder = ok(),
  subscriptions = 1,
}: {
  responder?: Responder;
  subscriptions?: number;
} = {}) {
  const receiver = await startReceiver(responder);
  receivers.push(receiver);
  const merchant = await aMerchant(service);
  const { id: memberId } = await merchant.enroll();
  const subscribe = async (url: string): Promise<string> => {
    const { status, body } = await merchant.call('/merchants/me/webhooks', {
      body: { url, events: ['points.changed'], timeoutMs: 30_000, retryPolicy: { maxAttempts: 2, backoffMs: 50 } },
    });
    expect(status).toBe(201);
    return body.data.id;
  };
  for (let index = 0; index < subscriptions; index += 1) await subscribe(`${receiver.url}/${index}`);
  return { merchant, memberId, receiver, subscribe };
}

async function change({ merchant, memberId }: Audience): Promise<void> {
  const path = `/merchants/me/members/${memberId}/points`;
  expect((await merchant.call(path, { method: 'PATCH', body: { delta: 1 } })).status).toBe(200);
}

async function changes(audience: Audience, { count, everyMs }: { count: number; everyMs: number }): Promise<void> {
  const made: Promise<void>[] = [];
  for (let index = 0; index < count; index += 1) {
    made.push(change(audience));
    await sleep(everyMs);
  }
  await Promise.all(made);
}

const ageOf = (request: Received): number =>
  request.at.getTime() - Date.parse(JSON.parse(request.body.toString('utf8')).occurredAt);

/** Makes changes and returns the ages of their events at the receiver: the median and the 95th percentile. */
async function agesOf(audience: Audience, load: { count: number; everyMs: number }) {
  const { requests } = audience.receiver;
  const before = requests.length;
  await changes(audience, load);
  await audience.receiver.waitFor(() => requests.length >= before + load.count);
  const ages = requests
    .slice(before)
    .map(ageOf)
    .toSorted((a, b) => a - b);
  const at = (part: number) => ages[Math.ceil(part * ages.length) - 1] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95) };
}

/**
 * A smaller difference in milliseconds may be caused by other work on the machine.
 * A delivery that waited for another receiver would take 15 s.
 */
const noiseMs = 2_500;
const atMost = (quiet: number): number => 2 * Math.max(quiet, noiseMs);
/** Half of the deliveries never meet that noise, so even a short wait of all of them shows. */
const medianAtMost = (quiet: number): number => 2 * Math.max(quiet, 750);

const openDeliveries = (merchantId: string) =>
  service.deps.collections.deliveries.countDocuments({ merchantId, state: { $in: ['pending', 'retrying'] } });

/** Longer than a measurement, and half the timeout, so that the answer arrives in time even on a slow machine. */
const answersAfterMs = 15_000;

describe('receivers that answer after 15 s, of a merchant with 20 subscriptions', () => {
  it('do not delay the deliveries of another merchant, and get all of their own', async () => {
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
    await until(async () => (await openDeliveries(patient.merchant.id)) === 0, { withinMs: 120_000, everyMs: 250 });
    const came = new Set(patient.receiver.requests.map(({ path, headers }) => `${path} ${headers['webhook-id']}`));
    expect(came.size).toBe(40 * 20);
    // Every request that was sent is in the delivery log.
    const deliveries = await service.deps.collections.deliveries.find({ merchantId: patient.merchant.id }).toArray();
    const attempts = deliveries.reduce((sum, delivery) => sum + delivery.attempts, 0);
    expect(patient.receiver.requests).toHaveLength(attempts);
  }, 240_000);
});

describe('a worker that stops', () => {
  it('leaves its background deliveries and the queue to the next worker', async () => {
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
    await until(async () => (await openDeliveries(patient.merchant.id)) === 0, { withinMs: 120_000, everyMs: 250 });
    const succeeded = { merchantId: patient.merchant.id, state: 'succeeded' as const };
    expect(await service.deps.collections.deliveries.countDocuments(succeeded)).toBe(120);
    const { waitingSubscriptions } = service.deps.collections;
    await until(async () => (await waitingSubscriptions.findOne({ merchantId: patient.merchant.id })) === null);
  }, 240_000);
});

describe('a receiver that hangs', () => {
  it('does not delay the deliveries to another receiver of its merchant', async () => {
    const load = { count: 100, everyMs: 20 };
    const agesBeside = async (responder: Responder) => {
      const audience = await anAudience();
      const other = await startReceiver(responder);
      receivers.push(other);
      await audience.subscribe(other.url);
      return agesOf(audience, load);
    };
    await agesBeside(ok());
    const besideQuick = await agesBeside(ok());
    const besideHung = await agesBeside(hang());
    console.log('  ages next to a quick receiver and next to one that hangs', besideQuick, besideHung);
    expect(besideHung.p95).toBeLessThan(atMost(besideQuick.p95));
    expect(besideHung.p50).toBeLessThan(medianAtMost(besideQuick.p50));
  }, 120_000);
});
