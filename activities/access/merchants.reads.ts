// The operator's settings of one merchant: whether it is suspended, and its limits.
import type { Deps } from '../../platform/deps.js';
import { type MerchantLimit, merchantLimits } from '../../schemas/access/merchantLimits.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';

/** The suspended merchants and since when, at most one second old: one query a second for each process. */
export async function suspensions(deps: Deps): Promise<ReadonlyMap<string, Date>> {
  const known = await deps.cached('suspensions', async () => {
    const rows = await deps.collections.merchants
      .find({ suspendedAt: { $exists: true } }, { projection: { suspendedAt: 1 } })
      .toArray();
    return new Map(rows.flatMap(({ _id, suspendedAt }) => (suspendedAt ? [[_id, suspendedAt] as const] : [])));
  });
  return known ?? new Map();
}

export async function limitOf(deps: Deps, { merchantId, limit }: { merchantId: string; limit: MerchantLimit }) {
  const row = await deps.collections.merchants.findOne({ _id: merchantId }, { projection: { limits: 1 } });
  return row?.limits?.[limit] ?? deps.config[merchantLimits[limit]];
}

/** RATE_LIMITED with the name of the limit, for limits that free up over time. */
export function limitReached(
  limit: MerchantLimit,
  { max, retryAfterSeconds }: { max: number; retryAfterSeconds: number },
): ServiceError {
  const details = { limit: merchantLimits[limit], max, retryAfterSeconds };
  return new ServiceError('RATE_LIMITED', details, `The merchant has reached its limit ${details.limit} of ${max}.`);
}
