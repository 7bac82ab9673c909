// The merchant's receivers, one for each responder, each with its own subscription. A receiver records each request
// before it answers.
import { createHash, createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Received, type Receiver, type Responder, startReceiver } from '../../rig/receiver.js';
import { gone, hang, ok, redirect, reset, slow, status, tooMany } from '../../rig/responders.js';
import type { Receipt } from '../evidence.js';
import type { Random } from './random.js';

export interface Listener {
  name: string;
  url: string;
  /** Set when the subscription is created. */
  subscriptionId: string;
  secret: string;
  events: string[];
  retryPolicy: { maxAttempts: number; backoffMs: number };
  timeoutMs: number;
  /** True when the receiver finally accepts everything. */
  steady: boolean;
  receipts(): Receipt[];
  /** The time of arrival of each event, in milliseconds since the epoch. */
  arrivals(): { eventId: string; at: number }[];
  /** From now on the receiver accepts everything at once. */
  acceptAll(): void;
  /** From now on the receiver has this responder. */
  setResponder(responder: Responder): void;
  stop(): Promise<void>;
}

interface ListenerOptions {
  name: string;
  responder: Responder;
  steady: boolean;
  events?: string[];
  retryPolicy?: { maxAttempts: number; backoffMs: number };
}

export async function aListener({
  name,
  responder,
  steady,
  events = ['*'],
  retryPolicy,
}: ListenerOptions): Promise<Listener> {
  const accepted = new WeakSet<Received>();
  const noting =
    (inner: Responder): Responder =>
    (request, answer: ServerResponse) => {
      answer.on('finish', () => {
        if (answer.statusCode >= 200 && answer.statusCode < 300) accepted.add(request);
      });
      inner(request, answer);
    };
  const receiver: Receiver = await startReceiver(noting(responder));
  const listener: Listener = {
    name,
    url: receiver.url,
    subscriptionId: '',
    secret: '',
    events,
    retryPolicy: retryPolicy ?? { maxAttempts: 20, backoffMs: 100 },
    timeoutMs: 1_000,
    steady,
    receipts: () =>
      receiver.requests.map((request) => ({
        subscriptionId: listener.subscriptionId,
        eventId: String(request.headers['webhook-id'] ?? ''),
        bytes: createHash('sha256').update(request.body).digest('hex'),
        signed: isSigned(request, listener.secret),
        accepted: accepted.has(request),
      })),
    arrivals: () =>
      receiver.requests.map(({ headers, at }) => ({ eventId: String(headers['webhook-id'] ?? ''), at: at.getTime() })),
    acceptAll: () => receiver.setResponder(noting(ok())),
    setResponder: (next) => receiver.setResponder(noting(next)),
    stop: () => receiver.stop(),
  };
  return listener;
}

function isSigned({ headers, body }: Received, secret: string): boolean {
  const timestamp = String(headers['x-service-webhook-timestamp']);
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  return headers['x-service-webhook-signature'] === `sha256=${expected}`;
}

/** A third of the requests fails, in varying ways. */
function unreliable(random: Random): Responder {
  const good = ok();
  const bad = [status(500), tooMany('1'), reset(), hang(), redirect('http://127.0.0.1:9/elsewhere'), status(503)];
  return (request, answer) => (random.chance(0.3) ? random.pick(bad) : good)(request, answer);
}

export async function startListeners(random: Random): Promise<Listener[]> {
  const givenUp = { maxAttempts: 2, backoffMs: 50 };
  return Promise.all([
    aListener({ name: 'good', responder: ok(), steady: true }),
    aListener({ name: 'unreliable', responder: unreliable(random.fork('unreliable')), steady: true }),
    aListener({ name: 'slow', responder: slow(150), steady: true, events: ['points.changed', 'reward.redeemed'] }),
    aListener({ name: 'gone', responder: gone(), steady: false, events: ['member.created'] }),
    aListener({
      name: 'moved',
      responder: redirect('http://127.0.0.1:9/elsewhere'),
      steady: false,
      events: ['reward.redeemed'],
      retryPolicy: givenUp,
    }),
  ]);
}
