// How many members a campaign would reach. Counted as the totals of lists are, so that it costs no more in a large merchant.
import type { Deps } from '../../platform/deps.js';

export interface Recipients {
  merchantId: string;
  programId: string | undefined;
  tags: readonly string[];
}

/** `complete` is false when counting ended at LIST_MAX_ROWS, or took too long; `matched` is then a lower bound. */
export async function countRecipients(
  deps: Pick<Deps, 'collections' | 'config' | 'countRows'>,
  { merchantId, programId, tags }: Recipients,
): Promise<{ matched: number; complete: boolean }> {
  const matched = await deps.countRows(deps.collections.members, {
    merchantId,
    ...(programId !== undefined && { programId }),
    ...(tags.length > 0 && { tags: { $all: tags } }),
    status: 'active',
  });
  return { matched: matched ?? 0, complete: matched !== undefined && matched < deps.config.LIST_MAX_ROWS };
}
