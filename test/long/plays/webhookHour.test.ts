// Webhook delivery through an hour of failures: the receiver is a process of its own that is killed and restarted. In
// the end it has every event exactly once after dedupe, and the delivery log agrees with the receiver's journal. The
// hour takes 20 seconds: every delay of receiver, schedule and retry policy is divided by 180; code, workflows and
// timers are the real ones.
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DeliveryAttempt, DeliveryRow } from '../../../schemas/webhooks/webhooks.rows.js';
import { until } from '../../rig/checks/until.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import {
  type JournaledRequest,
  startUnreliableReceiver,
  type UnreliableReceiver,
} from '../../rig/start/unreliableReceiver.js';

/** A minute of the receiver's hour, in real milliseconds. */
const minute = Math.round(60_000 / 180);
const eventEvery = 200;
const timeoutMs = 500;

let service: TestService;
let merchant: TestMerchant;
let receiver: UnreliableReceiver;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unreliable-receiver-'));
  receiver = await startUnreliableReceiver(join(folder, 'journal'));
  service = await startService({ env: { REPLAY_PER_SECOND: '200' } });
  merchant = await aMerchant(service);
});
afterAll(async () => {
  await service.stop();
  await receiver.kill();
  await rm(folder, { recursive: true });
});

interface Subscribed {
  id: string;
  path: string;
  secret: string;
  retryPolicy: { maxAttempts: number; backoffMs: number };
}

async function subscribe(path: string, retryPolicy: Subscribed['retryPolicy']): Promise<Subscribed> {
  const { body } = await merchant.call('/merchants/me/webhooks', {
    body: { url: `${receiver.origin}${path}`, events: ['points.changed'], retryPolicy },
  });
  const { id, secret } = body.data;
  // The scaled timeout is below the minimum that the API allows (docs/interface.md#210-webhook-subscription).
  await allow(id, timeoutMs);
  return { id, path, secret, retryPolicy };
}

async function allow(id: string, timeoutMs: number): Promise<void> {
  await service.deps.collections.subscriptions.updateOne({ _id: id }, { $set: { timeoutMs } });
}

/** A phase lasts its minutes, and on a slow machine until the attempts have met what it is for. */
async function theHour(brief: Subscribed): Promise<void> {
  const { deliveries } = service.deps.collections;
  const met = (error: string) => until(() => deliveries.findOne({ merchantId: merchant.id, 'history.error': error }));
  const runIn = async (mode: Parameters<UnreliableReceiver['setMode']>[0], minutes: number) => {
    receiver.setMode(mode);
    await sleep(minutes * minute);
  };
  const dead = async (minutes: number, ending?: () => Promise<unknown>) => {
    await receiver.kill();
    await sleep(minutes * minute);
    await ending?.();
    await receiver.restart();
  };
  await runIn('well', 4);
  await runIn('errors', 6);
  await runIn('busy', 4);
  await dead(8, async () => {
    await met('refused');
    await until(() => deliveries.findOne({ subscriptionId: brief.id, state: 'exhausted' }));
  });
  await runIn('slow', 5);
  await runIn('late', 5);
  await met('timeout');
  await runIn('mixed', 8);
  await dead(5);
  await runIn('hangs', 3);
  await runIn('moved', 2);
  await runIn('mixed', 5);
  await dead(1);
  await runIn('resets', 4);
  await met('reset');
}

/** Deliveries of the subscription, including replays, by event, oldest first. */
async function storyOf({ id }: Subscribed): Promise<Map<string, DeliveryRow[]>> {
  const rows = await service.deps.collections.deliveries.find({ subscriptionId: id }).sort({ createdAt: 1 }).toArray();
  const story = new Map<string, DeliveryRow[]>();
  for (const row of rows) story.set(row.eventId, [...(story.get(row.eventId) ?? []), row]);
  return story;
}

/** A replay of the delivery succeeded, none of its own attempts. */
const isBroughtByReplay = ({ state, history }: Pick<DeliveryRow, 'state' | 'history'>): boolean =>
  state === 'succeeded' && history.at(-1)?.error !== null;
const sentAt = ({ headers }: JournaledRequest): number => Date.parse(String(headers['x-service-webhook-timestamp']));
const shown = (entry: JournaledRequest) => {
  const { planned, answered, taken } = entry;
  return { sentAt: new Date(sentAt(entry)), planned, answered, taken };
};
const idOf = ({ headers }: JournaledRequest): string => String(headers['webhook-id']);

/**
 * Compares an attempt in the log with the receiver's record of it, if the receiver has one. The receiver may be killed
 * between its answer and the line that says so.
 */
function agrees({ statusCode, error }: DeliveryAttempt, request: JournaledRequest | undefined): boolean {
  if (statusCode !== null) return request?.planned === statusCode && (error === null) === statusCode < 300;
  if (error === 'refused') return request === undefined;
  if (error === 'reset') return request?.answered === undefined;
  return error === 'timeout';
}

it('after an hour of failures the receiver has every event once, and the log agrees with its journal', async () => {
  // One policy lasts for the whole hour; the other one uses up its attempts in an outage, as the default policy would.
  const patient = await subscribe('/patient', { maxAttempts: 20, backoffMs: 5 * minute });
  const brief = await subscribe('/brief', { maxAttempts: 8, backoffMs: Math.round(minute / 2) });
  const member = await merchant.enroll();
  const startedAt = new Date();

  const over = new AbortController();
  const award = async () => {
    for (let count = 1; !over.signal.aborted; count += 1) {
      const answer = await merchant.call(`/merchants/me/members/${member.id}/points`, {
        method: 'PATCH',
        body: { delta: count },
      });
      expect(answer.status).toBe(200);
      await sleep(eventEvery);
    }
  };
  const awarding = award();
  await theHour(brief);
  over.abort();
  await awarding;
  receiver.setMode('well');

  const ledger = await service.deps.collections.ledger.find({ memberId: member.id, type: 'adjust' }).toArray();
  const events = new Set(ledger.map(({ eventId = '' }) => eventId));
  expect(events.size).toBeGreaterThan(20);
  const atRest = (id: string, states: DeliveryRow['state'][]) =>
    until(async () => {
      const rows = await service.deps.collections.deliveries.find({ subscriptionId: id }).toArray();
      const settled = new Set(rows.filter((row) => states.includes(row.state)).map((row) => row.eventId));
      return settled.size === events.size;
    });
  await atRest(patient.id, ['succeeded']);
  await atRest(brief.id, ['succeeded', 'exhausted']);

  const exhausted = await service.deps.collections.deliveries.countDocuments({
    subscriptionId: brief.id,
    state: 'exhausted',
  });
  expect(exhausted).toBeGreaterThan(0);
  // The receiver answers well from here on; the longer timeout is only for stalls of the machine.
  await allow(brief.id, 10_000);
  const { body } = await merchant.call(`/merchants/me/webhooks/${brief.id}/replay`, {
    body: { since: startedAt.toISOString(), only: 'failed' },
  });
  const batch = await until(async () => {
    const { data } = (await merchant.call(`/merchants/me/batches/${body.data.id}`)).body;
    return data.phase === 'completed' && data;
  });
  expect(batch.counts).toMatchObject({ total: exhausted, created: exhausted });

  const journal = await receiver.journal();
  const everything = await service.deps.collections.deliveries.find({ merchantId: merchant.id }).toArray();
  const errors = new Set(everything.flatMap(({ history }) => history.map(({ error }) => error)));
  expect(errors).toEqual(new Set([null, 'status', 'refused', 'reset', 'timeout']));
  const taken = journal.filter((entry) => entry.taken);
  expect(taken.length).toBeGreaterThan(2 * events.size);
  for (const subscribed of [patient, brief]) {
    const { path, secret, retryPolicy } = subscribed;
    const requests = journal.filter((entry) => entry.path === path);
    expect(new Set(requests.filter((entry) => entry.taken).map(idOf))).toEqual(events);

    const bodies = new Map<string, Buffer>();
    for (const entry of requests) {
      const first = bodies.get(idOf(entry)) ?? entry.body;
      bodies.set(idOf(entry), first);
      expect(entry.body.equals(first)).toBe(true);
      new Webhook(secret).verify(entry.body, entry.headers as Record<string, string>);
      const timestamp = String(entry.headers['x-service-webhook-timestamp']);
      const hmac = createHmac('sha256', secret).update(`${timestamp}.`).update(entry.body).digest('hex');
      expect(entry.headers['x-service-webhook-signature']).toBe(`sha256=${hmac}`);
    }

    const story = await storyOf(subscribed);
    expect(new Set(story.keys())).toEqual(events);
    for (const [eventId, deliveries] of story) {
      const attempts = deliveries.flatMap(({ history }) => history);
      const known = requests.filter((entry) => idOf(entry) === eventId);
      // The time of an attempt is taken before its request is signed, and it ends before the next one starts.
      const attemptOf = (entry: JournaledRequest) => attempts.findLast(({ at }) => at.getTime() <= sentAt(entry));
      for (const attempt of attempts) {
        const entries = known.filter((entry) => attemptOf(entry) === attempt);
        const details = () => inspect({ path, eventId, attempt, attempts, known: known.map(shown) }, { depth: 4 });
        expect(entries.length, `more than one request of an attempt: ${details()}`).toBeLessThanOrEqual(1);
        expect(agrees(attempt, entries[0]), `an attempt and its request differ: ${details()}`).toBe(true);
      }
      expect(known.every((entry) => attemptOf(entry) !== undefined)).toBe(true);

      for (const { history, attempts: count, state, statusCode, success } of deliveries) {
        expect(history.map(({ attempt }) => attempt)).toEqual(history.map((_, index) => index + 1));
        expect(count).toBe(history.length);
        expect(history.slice(0, -1).every(({ error }) => error !== null)).toBe(true);
        const last = history.at(-1);
        const isBrought = isBroughtByReplay({ state, history });
        expect(success).toBe(state === 'succeeded');
        if (!isBrought) expect(statusCode).toBe(last?.statusCode);
        expect(last?.error === null).toBe(state === 'succeeded' && !isBrought);
        if (state === 'exhausted' || isBrought) expect(count).toBe(retryPolicy.maxAttempts);
        for (const [index, { at, durationMs }] of history.entries()) {
          const next = history[index + 1];
          if (next)
            expect(next.at.getTime() - at.getTime()).toBeGreaterThanOrEqual(durationMs + retryPolicy.backoffMs - 20);
        }
      }
      expect(deliveries.at(-1)?.state).toBe('succeeded');
      const [original, ...replays] = deliveries;
      const isReplayed = original !== undefined && isBroughtByReplay(original);
      expect(replays.map(({ replayOf }) => replayOf)).toEqual(isReplayed ? [original._id] : []);
    }
  }
}, 150_000);
