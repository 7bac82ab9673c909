// How many members a campaign would reach. Counted as the totals of lists are, so that it costs no more in a large
// merchant.
import type { Deps } from '../../platform/deps.js';
import { type Recipients, recipientFilter } from '../../schemas/batches/campaigns.schema.js';

/** `complete` is false when counting ended at LIST_MAX_ROWS, or took too long; `matched` is then a lower bound. */
export async function countRecipients(
  deps: Pick<Deps, 'collections' | 'config' | 'countRows'>,
  { merchantId, ...recipients }: Recipients & { merchantId: string },
): Promise<{ matched: number; complete: boolean }> {
  const where = { merchantId, ...recipientFilter(recipients) };
  const matched = await deps.countRows(deps.collections.members, where);
  return { matched: matched ?? 0, complete: matched !== undefined && matched < deps.config.LIST_MAX_ROWS };
}
