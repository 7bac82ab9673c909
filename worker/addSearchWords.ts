// Adds the search words that members of earlier versions lack. Until then their earlier words find them, which stay.
import { searchWordRows } from '../activities/members/newMember.rules.js';
import type { Deps } from '../platform/deps.js';
import { retryOnConflict } from '../platform/mongodb/retryOnConflict.js';
import { insert, update } from '../platform/mongodb/statements.js';
import { transact } from '../platform/mongodb/transact.js';
import { toChunks } from '../platform/toChunks.js';
import type { MemberRow, MemberSearchWordRow } from '../schemas/members/members.rows.js';
import { idsWith } from '../schemas/persons/personalData.schema.js';

/** Change the number when members get other search words (schemas/members/searchWords.rules.ts). */
const marker = 'searchWords:2';
const perSlice = 2_000;
const maxSlices = 0x10000;
const atOnce = 20;
/** Clocks may differ. */
const marginMs = 3_600_000;

/**
 * Looks at all members once, and later at those that have changed since the last time: while processes are replaced,
 * those of the earlier version still write. Can run while the service is running, and in several processes.
 */
export async function addSearchWords(deps: Deps): Promise<void> {
  const { counters, members } = deps.collections;
  const startedAt = deps.now();
  const before = (await counters.findOne({ _id: marker }))?.at;
  const changed = before && { updatedAt: { $gte: new Date(before.getTime() - marginMs) } };
  const count = Math.min(Math.ceil((await members.estimatedDocumentCount()) / perSlice), maxSlices);
  // Ids are random. The embedded engine reads all that matches, so a limit would not make a page of it.
  const bound = (slice: number) =>
    Math.floor((slice * maxSlices) / count)
      .toString(16)
      .padStart(4, '0');
  for (let slice = 0; slice < count; slice += 1) {
    const range = { $gte: slice === 0 ? '' : bound(slice), ...(slice < count - 1 && { $lt: bound(slice + 1) }) };
    const found = await members.find({ _id: range, ...changed }, { projection: { _id: 1 } }).toArray();
    for (const some of toChunks(found, atOnce))
      await Promise.all(some.map(({ _id }) => retryOnConflict(deps, () => addTo(deps, _id))));
  }
  await counters.updateOne({ _id: marker }, { $set: { at: startedAt, merchantId: '' } }, { upsert: true });
}

/** The rows of the member's words that are not stored. */
export async function missingWords({ collections }: Deps, member: MemberRow): Promise<MemberSearchWordRow[]> {
  const ofMember = idsWith(`${member._id}:`);
  const stored = await collections.memberSearchWords.find(ofMember, { projection: { word: 1 } }).toArray();
  const there = new Set(stored.map(({ word }) => word));
  return searchWordRows(member).filter(({ word }) => !there.has(word));
}

async function addTo(deps: Deps, _id: string): Promise<void> {
  const member = await deps.collections.members.findOne({ _id });
  if (!member) return;
  const missing = await missingWords(deps, member);
  if (missing.length === 0) return;
  // The member is written too, so that nothing is added to one that is renamed or erased at the same time.
  const touched = update(deps, 'members', { _id, version: member.version }, { $set: { wordsAt: deps.now() } });
  await transact(deps, [touched, ...missing.map((row) => insert(deps, 'memberSearchWords', row))], 1);
}
