// The tags of a merchant, from the collection that has one row for each tag in use.
import type { Deps } from '../../platform/deps.js';

export async function listTags(deps: Deps, { merchantId }: { merchantId: string }): Promise<string[]> {
  const rows = await deps.collections.tags.find({ merchantId }).toArray();
  return rows.map((row) => row.tag).sort();
}
