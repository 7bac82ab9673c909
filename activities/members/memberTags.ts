// Maintains the tags in use, so that listing tags reads no members. A tag's row is added when the tag is first given to
// a member, and removed when no member has the tag any more.
import type { Deps } from '../../platform/deps.js';
import { insertMissing } from '../../platform/mongodb/insertMissing.js';

export async function addTagsInUse(
  deps: Deps,
  { merchantId, tags }: { merchantId: string; tags: readonly string[] },
): Promise<void> {
  await insertMissing(
    deps.collections.tags,
    tags.map((tag) => ({ _id: `${merchantId}:${tag}`, merchantId, tag })),
  );
}

export async function removeUnusedTags(
  deps: Deps,
  { merchantId, tags }: { merchantId: string; tags: readonly string[] },
): Promise<void> {
  for (const tag of tags) {
    const used = await deps.collections.members.findOne({ merchantId, tags: tag }, { projection: { _id: 1 } });
    if (!used) await deps.collections.tags.deleteOne({ _id: `${merchantId}:${tag}` });
  }
}
