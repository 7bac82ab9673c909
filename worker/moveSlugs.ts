// Copies the slugs of programs from before slugs had their own collection, once: as long as the unique index exists that
// guarded them, which the migration drops afterwards.
import type { IndexDescriptionInfo } from 'mongodb';
import type { Deps } from '../platform/deps.js';
import { insertIfAbsent } from '../platform/mongodb/statements.js';
import { writeBulk } from '../platform/mongodb/transact.js';

const oldIndex = 'slug_1';
const atOnce = 500;

/** Does nothing once the index is gone. Can run in several processes at the same time. */
export async function moveSlugs(deps: Deps, found: readonly Pick<IndexDescriptionInfo, 'name'>[]): Promise<void> {
  const { programs } = deps.collections;
  if (!found.some(({ name }) => name === oldIndex)) return;
  for (let after = ''; ; ) {
    const rows = await programs
      .find({ _id: { $gt: after } }, { projection: { slug: 1, merchantId: 1 } })
      .sort({ _id: 1 })
      .limit(atOnce)
      .toArray();
    const last = rows.at(-1);
    if (!last) break;
    await writeBulk(
      deps,
      rows.map(({ _id: programId, slug, merchantId }) =>
        insertIfAbsent(deps, 'slugs', { _id: slug, merchantId, programId }),
      ),
    );
    after = last._id;
  }
}
