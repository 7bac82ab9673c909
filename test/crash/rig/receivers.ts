// The merchant's receivers, one for each responder, each with its own subscription. A receiver records each request
// before it answers.
import { createHash, createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Received, type Receiver, type Responder, startReceiver } from '../../rig/standins/receiver.js';
import { gone, hang, ok, redirect, reset, slow, status, tooMany } from '../../rig/standins/responders.js';
import type { Receipt } from '../evidence.js';
import type { Random } from './random.js';

export interface SubscribedReceiver {
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

interface ReceiverOptions {
  name: string;
  responder: Responder;
  steady: boolean;
  events?: string[];
  retryPolicy?: { maxAttempts: number; backoffMs: number };
  /** Default: 127.0.0.1. */
  host?: string;
}

export async function aSubscribedReceiver({
  name,
  responder,
  steady,
  events = ['*'],
  retryPolicy,
  host,
}: ReceiverOptions): Promise<SubscribedReceiver> {
  const accepted = new WeakSet<Received>();
  const noting =
    (inner: Responder): Responder =>
    (request, answer: ServerResponse) => {
      answer.on('finish', () => {
        if (answer.statusCode >= 200 && answer.statusCode < 300) accepted.add(request);
      });
      inner(request, answer);
    };
  const server: Receiver = await startReceiver(noting(responder), host === undefined ? {} : { host });
  const receiver: SubscribedReceiver = {
    name,
    url: server.url,
    subscriptionId: '',
    secret: '',
    events,
    retryPolicy: retryPolicy ?? { maxAttempts: 20, backoffMs: 100 },
    timeoutMs: 1_000,
    steady,
    receipts: () =>
      server.requests.map((request) => ({
        subscriptionId: receiver.subscriptionId,
        eventId: String(request.headers['webhook-id'] ?? ''),
        bytes: createHash('sha256').update(request.body).digest('hex'),
        signed: isSigned(request, receiver.secret),
        accepted: accepted.has(request),
      })),
    arrivals: () =>
      server.requests.map(({ headers, at }) => ({ eventId: String(headers['webhook-id'] ?? ''), at: at.getTime() })),
    acceptAll: () => server.setResponder(noting(ok())),
    setResponder: (next) => server.setResponder(noting(next)),
    stop: () => server.stop(),
  };
  return receiver;
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

export async function startReceivers(random: Random, at: { host?: string } = {}): Promise<SubscribedReceiver[]> {
  const givenUp = { maxAttempts: 2, backoffMs: 50 };
  return Promise.all([
    aSubscribedReceiver({ ...at, name: 'good', responder: ok(), steady: true }),
    aSubscribedReceiver({ ...at, name: 'unreliable', responder: unreliable(random.fork('unreliable')), steady: true }),
    aSubscribedReceiver({
      ...at,
      name: 'slow',
      responder: slow(150),
      steady: true,
      events: ['points.changed', 'reward.redeemed'],
    }),
    aSubscribedReceiver({ ...at, name: 'gone', responder: gone(), steady: false, events: ['member.created'] }),
    aSubscribedReceiver({
      ...at,
      name: 'moved',
      responder: redirect('http://127.0.0.1:9/elsewhere'),
      steady: false,
      events: ['reward.redeemed'],
      retryPolicy: givenUp,
    }),
  ]);
}
