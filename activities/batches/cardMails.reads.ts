// Who of an import can be mailed the link to the card, and the batch that does it.
import type { Deps } from '../../platform/deps.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { isFinished } from '../../schemas/batches/batches.schema.js';
import { isMailOn } from '../../schemas/shared/config.schema.js';
import { countsOfCreated, readChunk } from './imports/createChunks.writes.js';

/** Whether the members that an import has created can be mailed now: their list is kept for seven days after its end. */
export const canMailCards = (
  { config }: Pick<Deps, 'config'>,
  { kind, phase, counts, rowsUntil }: Pick<BatchRow, 'kind' | 'phase' | 'counts' | 'rowsUntil'>,
): boolean =>
  isMailOn(config) && kind === 'members.import' && isFinished(phase) && counts.created > 0 && rowsUntil !== undefined;

/** Whether each of its people has the mail, or will get it. */
export const mailsAll = ({ phase, counts }: BatchRow): boolean =>
  phase !== 'cancelled' && phase !== 'failed' && (phase !== 'completed' || counts.failed === 0);

/** By the id of an import, the newest batch that mails its cards. */
export async function cardMailsOf(
  deps: Deps,
  { merchantId, importIds }: { merchantId: string; importIds: readonly string[] },
): Promise<ReadonlyMap<string, BatchRow>> {
  const where = { merchantId, mailsCardsOf: { $in: [...importIds] } };
  const found = await deps.collections.batches.find(where).sort({ startedAt: 1 }).toArray();
  return new Map(found.map((row) => [row.mailsCardsOf ?? '', row]));
}

/** The ids of the members that the rows of a chunk have created, in their order. */
export async function createdOfChunk(deps: Deps, at: { batchId: string; chunk: number }): Promise<string[]> {
  const { outcomes = [] } = await readChunk(deps, at);
  const created = outcomes.filter(({ outcome }) => outcome === 'created');
  return created.flatMap(({ memberId }) => memberId ?? []).sort();
}

/**
 * How many of the members had an email when the import created them, and how many had none; all of them where an older
 * version of the service created them and did not count.
 */
export async function countCardMails(
  deps: Deps,
  { _id: batchId }: BatchRow,
): Promise<{ people: number; withoutEmail: number }> {
  const { cumulative, withEmail } = await countsOfCreated(deps, { batchId });
  const people = withEmail ?? cumulative.created;
  return { people, withoutEmail: cumulative.created - people };
}
