// Delivers one event to one subscription: the first attempt at once, and the others by a workflow, whose attempts are
// made here too. An attempt sends the stored bytes of the event to the subscription's current URL, signs them anew with
// the subscription's current secrets, and adds its result to the delivery log.
import type { SlotRequest } from '../../platform/fairLimit.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { webhookHeaders } from '../../schemas/webhooks/headers.rules.js';
import { retryWaitMs } from '../../schemas/webhooks/retries.rules.js';
import { checkWebhookUrl } from '../../schemas/webhooks/url.rules.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import type { DeliveryState } from '../../schemas/webhooks/webhooks.schema.js';
import type { CheckLease } from '../events/leaseRenewal.writes.js';
import type { WorkerDeps } from '../workerDeps.js';
import { type AttemptKind, slotRequestOf } from './deliveryLimits.effect.js';
import { leftToWorkflow } from './deliveryQueue.writes.js';
import { type SendResult, sendWebhook } from './sendWebhook.client.js';
import { liveSecrets } from './signingSecrets.writes.js';
import { startDeliveryWorkflow } from './startDeliveryWorkflow.effect.js';
import { recordHealth } from './subscriptionHealth.writes.js';

export interface Attempt {
  delivery: DeliveryRow;
  /** True when the delivery log may not have a row of this delivery yet. */
  unlogged?: boolean;
  event: Pick<EventRow, '_id' | 'type' | 'envelope' | 'traceparent'>;
  subscription: SubscriptionRow;
  attemptKind: AttemptKind;
  /** The request for a slot, for callers that may withdraw it. */
  slot?: SlotRequest;
  /** True when a failure of this attempt is final, because the retry policy allows no further attempt. */
  last: boolean;
  /** The number of this attempt in the retry policy, from 1: the wait after a failure grows with it. */
  policyAttempt: number;
  /** Called before a failure is logged. Throws LeaseLost when another attempt has taken over. */
  checkLease: CheckLease;
  signal?: AbortSignal | undefined;
}

export interface Attempted {
  state: DeliveryState;
  statusCode: number | null;
  error: string | null;
  /** How long to wait before the next attempt; 0 unless the state is `retrying`. */
  waitMs: number;
}

export type Deliver = Omit<Attempt, 'last' | 'policyAttempt'>;

/**
 * Makes the first attempt, unless it was made before. After a failure a workflow makes the others by the subscription's
 * retry policy. Throws what attemptDelivery throws.
 */
export async function deliver(deps: WorkerDeps, attempt: Deliver): Promise<void> {
  const { subscription } = attempt;
  let { delivery } = attempt;
  if (delivery.state === 'pending') {
    const attempts = delivery.attempts + 1;
    const last = attempts >= subscription.retryPolicy.maxAttempts;
    const attempted = await attemptDelivery(deps, { ...attempt, last, policyAttempt: attempts });
    if (attempted.state !== 'retrying') return;
    delivery = { ...delivery, attempts, nextAttemptAt: new Date(deps.now().getTime() + attempted.waitMs) };
  }
  await startDeliveryWorkflow(deps, { delivery, subscription });
}

async function send(deps: WorkerDeps, attempt: Attempt): Promise<SendResult> {
  const { event, subscription, attemptKind, signal } = attempt;
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
  const slot = attempt.slot ?? slotRequestOf(subscription, attemptKind);
  return deps.deliveryLimits.run(slot, async () => {
    const headers = webhookHeaders({
      eventType: event.type,
      eventId: event._id,
      subscriptionId: subscription._id,
      secrets: liveSecrets(deps, subscription, deps.now()),
      body,
      now: deps.now(),
    });
    const { url, timeoutMs } = subscription;
    return sendWebhook(deps.webhookAgent, { url, headers, body, timeoutMs, signal });
  });
}

/** Sends inside a tracing span whose parent is the request that created the event. */
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
 * Throws only when the attempt was cancelled or its slot withdrawn, when it failed after another attempt had taken over
 * (LeaseLost), or when its result could not be logged. Such an attempt does not count. After a failure, only the
 * attempt that still holds the lease or the delivery's fence sets the delivery's state. A success is always recorded.
 */
export async function attemptDelivery(deps: WorkerDeps, attempt: Attempt): Promise<Attempted> {
  const { delivery, subscription, last, policyAttempt } = attempt;
  const at = deps.now();
  const result = await traced(deps, attempt);
  if (result.error === 'aborted') throw new Error('The attempt was called off.');
  deps.crashPoint('after-post-before-log');
  // A process that was paused may see a timeout although the receiver answered in time, and another attempt may have
  // taken over.
  if (!result.ok) await attempt.checkLease();
  const state = stateAfter(result, last);
  const policyMs = retryWaitMs(subscription.retryPolicy, policyAttempt);
  const waitMs = state === 'retrying' ? Math.max(policyMs, result.retryAfterMs ?? 0) : 0;
  const now = deps.now();
  const nextAttemptAt = state === 'retrying' ? new Date(now.getTime() + waitMs) : null;
  const { statusCode, error, durationMs } = result;
  deps.metrics.attempt({ kind: attempt.attemptKind, error, seconds: durationMs / 1_000 });
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
      nextAttemptAt,
      ...(nextAttemptAt && leftToWorkflow(deps, delivery, nextAttemptAt)),
    },
    attempt: { attempt: delivery.attempts + 1, at, statusCode, error, durationMs },
  });
  await recordHealth(deps, { subscription, result });
  return { state, statusCode, error, waitMs };
}
