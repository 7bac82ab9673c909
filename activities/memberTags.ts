// The tags in use. A row is added when a tag is first given and taken away when its last member lost it, so that listing tags
// reads no member.
import type { Store } from './deps.js';
import { insertNew } from './insertNew.js';

export async function noteTags(
  store: Store,
  { merchantId, tags }: { merchantId: string; tags: readonly string[] },
): Promise<void> {
  await insertNew(
    store.rows.tags,
    tags.map((tag) => ({ _id: `${merchantId}:${tag}`, merchantId, tag })),
  );
}

export async function forgetUnusedTags(
  store: Store,
  { merchantId, tags }: { merchantId: string; tags: readonly string[] },
): Promise<void> {
  for (const tag of tags) {
    const used = await store.rows.members.findOne({ merchantId, tags: tag }, { projection: { _id: 1 } });
    if (!used) await store.rows.tags.deleteOne({ _id: `${merchantId}:${tag}` });
  }
}

export async function listTags(store: Store, { merchantId }: { merchantId: string }): Promise<string[]> {
  const rows = await store.rows.tags.find({ merchantId }).toArray();
  return rows.map((row) => row.tag).sort();
}
