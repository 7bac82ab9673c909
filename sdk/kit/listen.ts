// `kit listen`: brings a merchant's events to a receiver that the service cannot reach. They are read from the feed,
// and signed and sent as the service does (docs/interface.md#61-headers), one after the other.
import { createHmac } from 'node:crypto';
import type { LoyaltyEvent } from '../client.js';
import { LoyaltyError, retryAfterMs } from '../errors.js';
import { backoffMs, sleep } from '../retry.js';
import { standardKey } from '../verifyWebhook.js';
import { clock, digest, Failure, type Kit, keep, keptSecret, newestCursor, readKept, type Verb } from './verb.js';

const attemptMs = 10_000;
const subscription = 'kit-listen';

function signedHeaders(event: LoyaltyEvent, body: string, secret: string): Record<string, string> {
  const now = new Date();
  const seconds = String(Math.floor(now.getTime() / 1000));
  const hmac = (key: string | Uint8Array, start: string) => createHmac('sha256', key).update(`${start}.${body}`);
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'service-webhook/1.0',
    'X-Service-Webhook-Event': event.event,
    'X-Service-Webhook-Timestamp': now.toISOString(),
    'X-Service-Webhook-Subscription': subscription,
    'X-Service-Webhook-Signature': `sha256=${hmac(secret, now.toISOString()).digest('hex')}`,
    'webhook-id': event.eventId,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${hmac(standardKey(secret), `${event.eventId}.${seconds}`).digest('base64')}`,
  };
}

interface Forward {
  url: string;
  secret: string;
  attempts: number;
}

const causeOf = (error: unknown): string => {
  const { cause, message } = error as Error;
  const { code } = (cause ?? {}) as { code?: string };
  return code ?? message;
};

/**
 * Waits for as long as nobody listens at the address; a receiver that answers with a failure gets some attempts. An
 * attempt that is under way when the command is stopped is finished.
 */
async function forward({ say, signal }: Kit, event: LoyaltyEvent, { url, secret, attempts }: Forward): Promise<void> {
  const body = JSON.stringify(event);
  const line = `${event.event}  ${event.eventId}`;
  for (let attempt = 1, absent = 0; ; ) {
    const at = { time: new Date().toISOString(), event: event.event, eventId: event.eventId };
    const headers = signedHeaders(event, body, secret);
    let waitMs: number;
    try {
      const init: RequestInit = { method: 'POST', headers, body, redirect: 'manual' };
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(attemptMs) });
      await response.body?.cancel();
      const { status } = response;
      const isLast = response.ok || status === 410 || attempt >= attempts;
      const end = isLast && !response.ok ? ', given up' : '';
      say(`${clock()}  ${line}  ${status}${end}`, {
        ...at,
        status,
        attempt,
        delivered: response.ok,
        givenUp: end !== '',
      });
      if (isLast) return;
      waitMs = Math.max(backoffMs(attempt), retryAfterMs(response.headers));
      attempt += 1;
    } catch (error) {
      absent += 1;
      const reason = causeOf(error);
      if (absent === 1)
        say(`${clock()}  ${line}  no answer (${reason}), waiting`, { ...at, error: reason, delivered: false });
      waitMs = backoffMs(absent);
    }
    await sleep(waitMs, signal);
  }
}

interface Place {
  after: string | undefined;
  /** The events after the cursor that were forwarded. */
  done: string[];
}

/** Where to begin: where the last run stopped, or at the newest event. */
async function startingPlace(kit: Kit, file: string, fromStart: boolean): Promise<Place> {
  const kept = readKept(file);
  if (fromStart) return { after: undefined, done: [] };
  if (kept) {
    const place: Place = JSON.parse(kept);
    const query = { limit: 1, ...(place.after !== undefined && { after: place.after }) };
    try {
      await kit.client().GET('/merchants/me/events', { params: { query }, signal: kit.signal });
      return place;
    } catch (error) {
      if (!(error instanceof LoyaltyError && error.status === 400)) throw error;
      kit.note('The place where the last run stopped is gone; starting at the newest event.');
    }
  }
  return { after: await newestCursor(kit.client(), kit), done: [] };
}

export const listen: Verb = {
  usage: 'listen --forward-to URL [--types TYPE,...] [--from-start] [--attempts N]',
  does: `Forwards the merchant's events to URL, signed with a secret that stays the same and is shown. A restart goes on
where the last run stopped; the first run begins with what happens next, with --from-start at the oldest event.
A receiver that fails gets 5 attempts; one that is not there is waited for.`,
  example: 'listen --forward-to http://127.0.0.1:4000/webhooks',
  options: {
    'forward-to': { type: 'string' },
    types: { type: 'string' },
    'from-start': { type: 'boolean' },
    attempts: { type: 'string', default: '5' },
  },
  async run(kit, { values }) {
    const url = String(values['forward-to'] ?? '');
    if (!URL.canParse(url)) throw new Failure('--forward-to takes the URL of your receiver.', 2);
    const attempts = Number(values.attempts);
    if (!Number.isInteger(attempts) || attempts < 1) throw new Failure('--attempts takes a number from 1 on.', 2);
    const types = values.types ? (String(values.types).split(',') as LoyaltyEvent['event'][]) : undefined;
    const { baseUrl, apiKey } = kit.address();
    const file = `listen-${digest(baseUrl, apiKey, url, String(types))}`;
    const place = await startingPlace(kit, file, values['from-start'] === true);
    const save = () => keep(file, JSON.stringify(place));
    save();
    const secret = keptSecret();
    kit.say(`Forwarding to ${url}\nSecret: ${secret}`, { ready: true, forwardTo: url, secret });
    const onCursor = (after: string) => {
      place.after = after;
      place.done = [];
      save();
    };
    for await (const event of kit.client().events({ after: place.after, types, signal: kit.signal, onCursor })) {
      if (place.done.includes(event.eventId)) continue;
      await forward(kit, event, { url, secret, attempts });
      place.done.push(event.eventId);
      save();
      kit.signal.throwIfAborted();
    }
    return 0;
  },
};
