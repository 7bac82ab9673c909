// Maintains the tags in use, so that listing tags reads no members. A tag's row is added when the tag is first given to
// a member, and removed when no member has the tag any more.
import type { Deps } from '../../platform/deps.js';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import { insertWithQuota } from '../../platform/mongodb/insertWithQuota.js';
import { merchantLimits } from '../../schemas/access/merchantLimits.schema.js';
import type { TagRow } from '../../schemas/members/members.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { limitOf } from '../access/merchants.reads.js';

interface Tags {
  merchantId: string;
  tags: readonly string[];
}

const rowsOf = ({ merchantId, tags }: Tags): TagRow[] =>
  [...new Set(tags)].map((tag) => ({ _id: `${merchantId}:${tag}`, merchantId, tag }));

/**
 * Runs `tagMember`, which gives the tags to a member, once the tags are in use. Throws TAG_LIMIT_EXCEEDED when the
 * merchant would have more tags than its limit, and what `tagMember` throws.
 */
export async function withTagsInUse<T>(deps: Deps, wanted: Tags, tagMember: () => Promise<T>): Promise<T> {
  const added = await reserveTags(deps, wanted);
  const tagged = await tagMember().catch(async (error: unknown) => {
    await removeUnusedTags(deps, { ...wanted, tags: added });
    throw error;
  });
  // Added again, because a concurrent request that removed a tag from its last member may have deleted the row.
  await addTagsInUse(deps, wanted);
  return tagged;
}

/** Returns the tags that were not in use before. */
async function reserveTags(deps: Deps, { merchantId, tags }: Tags): Promise<string[]> {
  let missing: TagRow[] = [];
  const rows = async () => {
    const ids = rowsOf({ merchantId, tags }).map(({ _id }) => _id);
    const known = new Set((await findByIds(deps, 'tags', { ids, merchantId })).map(({ tag }) => tag));
    missing = rowsOf({ merchantId, tags: tags.filter((tag) => !known.has(tag)) });
    return missing;
  };
  if ((await rows()).length === 0) return [];
  const max = await limitOf(deps, { merchantId, limit: 'tags' });
  const details = { limit: merchantLimits.tags, max };
  await insertWithQuota(deps, {
    merchantId,
    owner: `tags:${merchantId}`,
    countHeld: () => deps.collections.tags.countDocuments({ merchantId }, { limit: max }),
    quota: max,
    refusal: new ServiceError('TAG_LIMIT_EXCEEDED', details, `The merchant can have at most ${max} different tags.`),
    name: 'tags',
    rows,
  });
  return missing.map(({ tag }) => tag);
}

/** Adds the tags regardless of the limit, because members already have them. */
export async function addTagsInUse(deps: Deps, wanted: Tags): Promise<void> {
  await insertMissing(deps.collections.tags, rowsOf(wanted));
}

export async function removeUnusedTags(deps: Deps, { merchantId, tags }: Tags): Promise<void> {
  const isHeld = (tag: string) =>
    deps.collections.members.findOne({ merchantId, tags: tag }, { projection: { _id: 1 } });
  for (const tag of tags) {
    if (await isHeld(tag)) continue;
    await deps.collections.tags.deleteOne({ _id: `${merchantId}:${tag}`, merchantId });
    // A concurrent request that found the row may have given the tag to a member in between.
    if (await isHeld(tag)) await addTagsInUse(deps, { merchantId, tags: [tag] });
  }
}
