// Activities of a suspended merchant are retried by Temporal, so that they occupy no slot of a worker while they wait.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Deps } from '../../platform/deps.js';
import { suspensions } from './merchants.reads.js';

/**
 * Throws ApplicationFailure MERCHANT_SUSPENDED while the merchant is suspended. The retry comes after a tenth of the
 * time since the suspension, after at least a second and at most ten minutes.
 */
export async function requireActiveMerchant(deps: Deps, { merchantId }: { merchantId: string }): Promise<void> {
  const suspendedAt = (await suspensions(deps)).get(merchantId);
  if (!suspendedAt) return;
  const forMs = deps.now().getTime() - suspendedAt.getTime();
  throw ApplicationFailure.create({
    message: 'The merchant is suspended. Its work goes on after: npm run merchants -- resume ID',
    type: 'MERCHANT_SUSPENDED',
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: Math.min(Math.max(Math.round(forMs / 10), 1_000), 600_000),
  });
}
