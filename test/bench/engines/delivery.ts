// The delivery that each engine makes as its job or step: one POST, signed with the service's own headers, and the row
// that logs the attempt.
import { randomUUID } from 'node:crypto';
import { Agent } from 'undici';
import { webhookHeaders } from '../../../schemas/webhooks/headers.rules.js';

/** Deliveries at the same time, and callers. */
export const concurrency = 64;
/** Attempts of a delivery, as by the default of a subscription. */
export const mostAttempts = 8;
/** Seconds until the second attempt; each later wait is twice as long. */
export const firstWaitSeconds = 1;

const secrets = [`whsec_${Buffer.alloc(32, 'x').toString('base64')}`];

export interface StoredEvent {
  eventId: string;
  body: string;
}

export interface Attempt {
  id: string;
  eventId: string;
  url: string;
  at: Date;
  success: boolean;
  statusCode: number | null;
  durationMs: number;
}

/** Returns a function that makes one attempt. It never throws: the attempt says what happened. */
export function createPost(url: string): (event: StoredEvent) => Promise<Attempt> {
  const agent = new Agent({ connections: concurrency, headersTimeout: 10_000, bodyTimeout: 10_000 });
  const { origin, pathname: path } = new URL(url);
  return async function post({ eventId, body }) {
    const at = new Date();
    const startedAt = performance.now();
    const bytes = Buffer.from(body);
    const about = { eventType: 'points.changed', eventId, subscriptionId: 'bench', secrets };
    const headers = webhookHeaders({ ...about, body: bytes, now: at });
    const statusCode = await agent
      .request({ origin, path, method: 'POST', headers, body: bytes })
      .then(async (answer) => {
        await answer.body.dump();
        return answer.statusCode;
      })
      .catch(() => null);
    const success = statusCode !== null && statusCode >= 200 && statusCode < 300;
    const durationMs = Math.round(performance.now() - startedAt);
    return { id: randomUUID(), eventId, url, at, success, statusCode, durationMs };
  };
}

/** Returns a job: an attempt and its row. It throws after an attempt that failed, so that the engine tries again. */
export function createDelivery(
  url: string,
  logAttempt: (attempt: Attempt) => Promise<unknown>,
): (event: StoredEvent) => Promise<void> {
  const post = createPost(url);
  return async function deliver(event) {
    const attempt = await post(event);
    await logAttempt(attempt);
    if (!attempt.success) throw new Error(`The attempt was answered ${attempt.statusCode ?? 'nothing'}.`);
  };
}
