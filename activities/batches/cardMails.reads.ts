// Who of an import can be mailed the link to the card, and the batch that does it.
import type { Deps } from '../../platform/deps.js';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { isFinished } from '../../schemas/batches/batches.schema.js';
import { isMailOn } from '../../schemas/shared/config.schema.js';
import { readChunk } from './imports/createChunks.writes.js';

/** Whether the members that an import has created can be mailed now: their list is kept for seven days after its end. */
export const canMailCards = (
  { config }: Pick<Deps, 'config'>,
  { kind, phase, counts, rowsUntil }: Pick<BatchRow, 'kind' | 'phase' | 'counts' | 'rowsUntil'>,
): boolean =>
  isMailOn(config) && kind === 'members.import' && isFinished(phase) && counts.created > 0 && rowsUntil !== undefined;

/** By the id of an import, the newest batch that mails its cards, unless that one stopped early. */
export async function cardMailsOf(
  deps: Deps,
  { merchantId, importIds }: { merchantId: string; importIds: readonly string[] },
): Promise<ReadonlyMap<string, BatchRow>> {
  const where = {
    merchantId,
    mailsCardsOf: { $in: [...importIds] },
    phase: { $nin: ['failed', 'cancelled'] },
  } as const;
  const found = await deps.collections.batches.find(where).sort({ startedAt: 1 }).toArray();
  return new Map(found.map((row) => [row.mailsCardsOf ?? '', row]));
}

/** The ids of the members that the rows of a chunk have created, in their order. */
export async function createdOfChunk(deps: Deps, at: { batchId: string; chunk: number }): Promise<string[]> {
  const { outcomes = [] } = await readChunk(deps, at);
  const created = outcomes.filter(({ outcome }) => outcome === 'created');
  return created.flatMap(({ memberId }) => memberId ?? []).sort();
}

/** How many of the created members have an email, and how many have none. */
export async function countCardMails(
  deps: Deps,
  { _id: batchId, merchantId, chunks = 0 }: BatchRow,
): Promise<{ people: number; withoutEmail: number }> {
  const counted = { people: 0, withoutEmail: 0 };
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    const ids = await createdOfChunk(deps, { batchId, chunk });
    for (const { email } of await findByIds(deps, 'members', { ids, merchantId }))
      counted[email === undefined ? 'withoutEmail' : 'people'] += 1;
  }
  return counted;
}
