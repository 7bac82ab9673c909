// Merchants whose receivers answer as a test says, and the ages at which events arrive there. A delivery that waits for
// another receiver shows in the ages.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Received, type Receiver, type Responder, startReceiver } from '../standins/receiver.js';
import { ok } from '../standins/responders.js';
import { aMerchant, type TestMerchant } from './merchant.js';
import { startService, type TestService } from './service.js';

export interface Audience {
  merchant: TestMerchant;
  memberId: string;
  receiver: Receiver;
  subscribe: (url: string) => Promise<string>;
}

export interface Audiences {
  service: TestService;
  /** A merchant with a member, and subscriptions that all go to one receiver with this responder. */
  anAudience: (given?: { responder?: Responder; subscriptions?: number }) => Promise<Audience>;
  /** A receiver that is stopped with the service. */
  aReceiver: (responder: Responder) => Promise<Receiver>;
  /** How many deliveries of the merchant have not ended. */
  open: (merchantId: string) => Promise<number>;
  stop: () => Promise<void>;
}

export async function startAudiences(): Promise<Audiences> {
  // All events of all merchants are published by one relay.
  const service = await startService({ env: { CHANGE_WORKFLOWS_PER_SECOND: '0' } });
  const receivers: Receiver[] = [];
  const aReceiver = async (responder: Responder) => {
    const receiver = await startReceiver(responder);
    receivers.push(receiver);
    return receiver;
  };
  return {
    service,
    aReceiver,
    async anAudience({ responder = ok(), subscriptions = 1 } = {}) {
      const receiver = await aReceiver(responder);
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
    },
    open: (merchantId) =>
      service.deps.collections.deliveries.countDocuments({ merchantId, state: { $in: ['pending', 'retrying'] } }),
    async stop() {
      for (const receiver of receivers) receiver.setResponder(ok());
      await service.stop();
      await Promise.all(receivers.map((receiver) => receiver.stop()));
    },
  };
}

async function change({ merchant, memberId }: Audience): Promise<void> {
  const path = `/merchants/me/members/${memberId}/points`;
  expect((await merchant.call(path, { method: 'PATCH', body: { delta: 1 } })).status).toBe(200);
}

export async function changes(
  audience: Audience,
  { count, everyMs }: { count: number; everyMs: number },
): Promise<void> {
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
export async function agesOf(audience: Audience, load: { count: number; everyMs: number }) {
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
export const atMost = (quiet: number): number => 2 * Math.max(quiet, noiseMs);
/** Half of the deliveries never meet that noise, so even a short wait of all of them shows. */
export const medianAtMost = (quiet: number): number => 2 * Math.max(quiet, 750);
