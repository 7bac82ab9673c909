// The slugs of published programs. A slug belongs to one program; a released slug can be taken again.
import type { Deps } from '../../platform/deps.js';
import { insert, remove, update } from '../../platform/mongodb/statements.js';
import type { Statement, Transaction } from '../../platform/mongodb/transaction.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { ProgramHead } from './programHead.reads.js';

interface Wanted {
  head: ProgramHead;
  content: { slug: string };
}

/**
 * The statements that assign each program its slug, and the number of documents that their updates must match. Programs
 * of one call may swap slugs. Throws SLUG_TAKEN.
 */
export async function slugWrites(deps: Deps, wanted: readonly Wanted[]): Promise<Transaction> {
  const taken = new Map(wanted.map(({ head, content }) => [content.slug, head]));
  const rows = await deps.collections.slugs.find({ _id: { $in: [...taken.keys()] } }).toArray();
  const owners = new Map(rows.map(({ _id, programId }) => [_id, programId]));
  const givenUp = new Map(
    wanted.flatMap(({ head: { live }, content }) =>
      live && live.slug !== content.slug ? [[live.slug, live._id] as const] : [],
    ),
  );
  const statements: Statement[] = [];
  let expectedMatches = 0;
  for (const [slug, programId] of givenUp) {
    if (!taken.has(slug)) statements.push(remove(deps, 'slugs', { _id: slug, programId }));
  }
  for (const [slug, { merchantId, programId }] of taken) {
    const owner = owners.get(slug);
    if (owner === programId) continue;
    if (owner === undefined) {
      statements.push(insert(deps, 'slugs', { _id: slug, merchantId, programId }));
      continue;
    }
    if (!givenUp.has(slug)) throw new ServiceError('SLUG_TAKEN');
    statements.push(update(deps, 'slugs', { _id: slug, programId: owner }, { $set: { merchantId, programId } }));
    expectedMatches += 1;
  }
  return { statements, expectedMatches };
}
