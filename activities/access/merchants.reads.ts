// The operator's settings of one merchant: whether it is suspended, and its limits.
import type { Deps } from '../../platform/deps.js';
import type { MerchantRow } from '../../schemas/access/access.rows.js';
import { type MerchantLimit, merchantLimits } from '../../schemas/access/merchantLimits.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';

/** The merchants that have a setting, at most one second old: one query a second for each process. */
async function merchantsWith<T extends Date | number>(
  { cached, collections }: Deps,
  field: 'suspendedAt' | 'limits.requests',
  settingOf: (row: MerchantRow) => T | undefined,
): Promise<ReadonlyMap<string, T>> {
  const known = await cached(`merchants with ${field}`, async () => {
    const rows = await collections.merchants
      .find({ [field]: { $exists: true } }, { projection: { [field]: 1 } })
      .toArray();
    return new Map(
      rows.flatMap((row) => {
        const value = settingOf(row);
        return value === undefined ? [] : [[row._id, value] as const];
      }),
    );
  });
  return known ?? new Map();
}

/** The suspended merchants and since when. */
export const suspensions = (deps: Deps) => merchantsWith(deps, 'suspendedAt', ({ suspendedAt }) => suspendedAt);

/** The merchants for which the operator has set a limit of requests. */
export const requestLimits = (deps: Deps) => merchantsWith(deps, 'limits.requests', ({ limits }) => limits?.requests);

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
