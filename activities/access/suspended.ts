// Work for a suspended merchant waits in Temporal, where it occupies no slot of a worker.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Deps } from '../../platform/deps.js';
import { suspensions } from './merchants.js';

/**
 * Throws ApplicationFailure MERCHANT_SUSPENDED while the merchant is suspended: the activity is tried again after a tenth
 * of the time for which it is suspended already, after a second at least and ten minutes at most.
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
