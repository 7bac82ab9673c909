// Delivers one event to one subscription: the first attempt at once, and the retries by a workflow.

import type { WorkerDeps } from '../workerDeps.js';
import { type Attempt, attemptDelivery } from './attemptDelivery.effect.js';
import { startDeliveryWorkflow } from './startDeliveryWorkflow.effect.js';

export interface Deliver extends Omit<Attempt, 'last' | 'policyAttempt'> {
  /** True when a workflow makes the first attempt as well. */
  byWorkflow?: boolean;
}

/**
 * Makes the first attempt, unless it was made before. After a failure a workflow makes the others by the subscription's
 * retry policy. Returns the milliseconds until the workflow's next attempt, or null when none follows. Throws what
 * attemptDelivery throws.
 */
export async function deliver(deps: WorkerDeps, { byWorkflow = false, ...attempt }: Deliver): Promise<number | null> {
  const { delivery, subscription } = attempt;
  const { maxAttempts } = subscription.retryPolicy;
  let made = delivery.attempts;
  let waitMs = Math.max((delivery.nextAttemptAt?.getTime() ?? 0) - deps.now().getTime(), 0);
  if (delivery.state === 'pending' && !byWorkflow) {
    made += 1;
    const attempted = await attemptDelivery(deps, { ...attempt, last: made >= maxAttempts, policyAttempt: made });
    if (attempted.state !== 'retrying') return null;
    waitMs = attempted.waitMs;
  }
  await startDeliveryWorkflow(deps, { delivery, subscription, waitMs, attemptsMade: made });
  return waitMs;
}
