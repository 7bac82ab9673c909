// The tags of a merchant, from the collection that has one row for each tag in use.
import type { Deps } from '../../platform/deps.js';

/** MERCHANT_MAX_TAGS is at most this number. Concurrent requests may exceed a merchant's limit by a few. */
const mostTags = 10_000;

export async function listTags(deps: Deps, { merchantId }: { merchantId: string }): Promise<string[]> {
  const rows = await deps.collections.tags.find({ merchantId }).sort({ tag: 1 }).limit(mostTags).toArray();
  return rows.map((row) => row.tag).sort();
}
