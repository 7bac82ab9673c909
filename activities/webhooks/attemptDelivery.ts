// One attempt of one delivery, first or retry: the subscription's URL and secrets of this moment, the event's own bytes, a
// fresh signature, and a line in the log that says what happened.
import type { DeliveryRow, EventRow, SubscriptionRow } from '../../schemas/collections.js';
import { webhookHeaders } from '../../schemas/webhookHeaders.js';
import type { DeliveryState } from '../../schemas/webhooks.js';
import { checkWebhookUrl } from '../../schemas/webhookUrl.js';
import type { Confirm } from '../claimEvents.js';
import type { WorkerDeps } from '../workerDeps.js';
import { recordHealth } from './health.js';
import type { Turn } from './lanes.js';
import { type SendResult, sendWebhook } from './sendWebhook.js';

export interface Attempt {
  delivery: DeliveryRow;
  /** True when the log may not have the delivery yet. */
  unlogged?: boolean;
  event: Pick<EventRow, '_id' | 'type' | 'envelope' | 'traceparent'>;
  subscription: SubscriptionRow;
  turn: Turn;
  /** True when no further attempt follows a failure. */
  last: boolean;
  /** Asked right before the bytes go out, and before a failure is believed. */
  confirm: Confirm;
  signal?: AbortSignal;
}

export interface Attempted {
  state: DeliveryState;
  statusCode: number | null;
  error: string | null;
  /** How long to wait before the next attempt; 0 unless the state is `retrying`. */
  waitMs: number;
}

/** The secrets to sign with at `now`, newest first. */
function liveSecrets(deps: Pick<WorkerDeps, 'secrets'>, subscription: SubscriptionRow, now: Date): string[] {
  return subscription.secrets
    .filter((secret) => !secret.expiresAt || secret.expiresAt > now)
    .map((secret) => deps.secrets.open(secret.sealed));
}

async function send(deps: WorkerDeps, attempt: Attempt): Promise<SendResult> {
  const { event, subscription, turn, signal } = attempt;
  const allowed = checkWebhookUrl(subscription.url, deps.urlPolicy);
  if (!allowed.ok) {
    return {
      ok: false,
      statusCode: null,
      error: 'blocked_address',
      detail: allowed.reason,
      durationMs: 0,
      retryAfterMs: null,
    };
  }
  if (!event.envelope) throw new Error(`Event ${event._id} has no envelope yet.`);
  const body = Buffer.from(event.envelope.buffer);
  return deps.lanes.run(subscription._id, turn, async () => {
    let leftMs = subscription.timeoutMs;
    for (;;) {
      const notAfter = await attempt.confirm();
      const now = deps.now();
      const headers = webhookHeaders({
        eventType: event.type,
        eventId: event._id,
        subscriptionId: subscription._id,
        secrets: liveSecrets(deps, subscription, now),
        body,
        now,
      });
      const begunAt = performance.now();
      const { url } = subscription;
      const sent = await sendWebhook(deps.webhookAgent, { url, headers, body, timeoutMs: leftMs, notAfter, signal });
      if (sent) return sent;
      // There was no connection while the answer could be relied on: it is asked again, on what is left of the time.
      leftMs = Math.max(leftMs - (performance.now() - begunAt), 1);
    }
  });
}

/** The attempt as the last span of the request that made the event. */
function traced(deps: WorkerDeps, attempt: Attempt): Promise<SendResult> {
  const { event, subscription, delivery } = attempt;
  const span = {
    name: `deliver ${event.type}`,
    kind: 'client',
    parent: event.traceparent,
    attributes: {
      'http.request.method': 'POST',
      'server.address': new URL(subscription.url).hostname,
      'loyalty.event.id': event._id,
      'loyalty.subscription.id': subscription._id,
      'loyalty.delivery.attempt': delivery.attempts + 1,
    },
  } as const;
  return deps.tracing.span(span, async (ended) => {
    const result = await send(deps, attempt);
    const { ok, statusCode, error } = result;
    ended({
      attributes: {
        ...(statusCode !== null && { 'http.response.status_code': statusCode }),
        ...(error !== null && { 'error.type': error }),
      },
      failed: !ok,
    });
    return result;
  });
}

function stateAfter(result: SendResult, last: boolean): DeliveryState {
  if (result.ok) return 'succeeded';
  return last || result.error === 'gone' ? 'exhausted' : 'retrying';
}

/**
 * Throws only when the attempt was called off, taken over by somebody else, or could not be logged; then it did not
 * count. How a delivery stands after a failure is said only by whoever still carries it; a success is true whoever says it.
 */
export async function attemptDelivery(deps: WorkerDeps, attempt: Attempt): Promise<Attempted> {
  const { delivery, subscription, last } = attempt;
  const at = deps.now();
  const result = await traced(deps, attempt);
  if (result.error === 'aborted') throw new Error('The attempt was called off.');
  deps.crashPoint('after-post-before-log');
  // A process that stood still sees timeouts that the receiver knows nothing of.
  if (!result.ok) await attempt.confirm();
  const state = stateAfter(result, last);
  const waitMs = state === 'retrying' ? Math.max(subscription.retryPolicy.backoffMs, result.retryAfterMs ?? 0) : 0;
  const now = deps.now();
  const { statusCode, error, durationMs } = result;
  deps.metrics.attempt({ turn: attempt.turn, error, seconds: durationMs / 1_000 });
  deps.metrics.delivery(state);
  await deps.logAttempt({
    deliveryId: delivery._id,
    ...(attempt.unlogged && { unlogged: delivery }),
    fence: delivery.fence,
    set: {
      url: subscription.url,
      state,
      success: result.ok,
      statusCode,
      error,
      detail: result.detail,
      lastAttemptAt: at,
      nextAttemptAt: state === 'retrying' ? new Date(now.getTime() + waitMs) : null,
    },
    attempt: { attempt: delivery.attempts + 1, at, statusCode, error, durationMs },
  });
  await recordHealth(deps, { subscription, result });
  return { state, statusCode, error, waitMs };
}
