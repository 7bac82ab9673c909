// Limits how many attempts are in flight at the same time in this process, and shares them fairly by merchant and by
// subscription (platform/fairLimit.ts). Retries never use the slots that are reserved for first attempts.
import { createFairLimit, type FairLimit, type SlotRequest } from '../../platform/fairLimit.js';

export interface DeliveryLimitOptions {
  perSubscription: number;
  total: number;
  /** Slots of `total` that retries may not use; must be below `total`. */
  reservedForFirst: number;
}

export type AttemptKind = 'first' | 'retry';

export type DeliveryLimits = FairLimit;

export const slotRequestOf = (
  { _id, merchantId }: { _id: string; merchantId: string },
  attemptKind: AttemptKind,
  maxWaitMs?: number,
): SlotRequest => ({
  owner: merchantId,
  key: _id,
  deferred: attemptKind === 'retry',
  ...(maxWaitMs !== undefined && { maxWaitMs }),
});

export const createDeliveryLimits = ({ perSubscription, total, reservedForFirst }: DeliveryLimitOptions) =>
  createFairLimit({ total, perKey: perSubscription, reserved: reservedForFirst });
