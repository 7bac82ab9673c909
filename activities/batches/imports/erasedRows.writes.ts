// Rows that an import had not decided when a member was erased, and that hold one of its values (`ofErased`). They may
// still create a new member. Those that become no member's are emptied by the step that decides the chunk, or at the
// end of the import.
import type { Deps } from '../../../platform/deps.js';
import { update } from '../../../platform/mongodb/statements.js';
import { writeBulk } from '../../../platform/mongodb/transact.js';
import type { ImportChunkRow } from '../../../schemas/batches/batches.rows.js';
import { marksOfRows } from '../../../schemas/batches/importMarks.rules.js';

/** The change that empties the rows at these positions of a chunk. */
export function emptying(chunk: ImportChunkRow, positions: readonly number[]) {
  const numbers = new Set(positions.map((index) => chunk.rows[index]?.row));
  const codes = (chunk.outcomes ?? []).flatMap(({ row, memberCode }, index) =>
    memberCode !== undefined && numbers.has(row) ? [index] : [],
  );
  const left = chunk.rows.filter(({ row }) => !numbers.has(row));
  return {
    $set: {
      ...Object.fromEntries(positions.map((index) => [`rows.${index}.cells`, chunk.rows[index]?.cells.map(() => '')])),
      marks: marksOfRows(chunk.merchantId, { ...chunk, rows: left }),
    },
    $unset: Object.fromEntries([
      ...positions.map((index) => [`rows.${index}.person`, '']),
      ...codes.map((index) => [`outcomes.${index}.memberCode`, '']),
    ]),
  };
}

/** The change that empties the rows about erased members that became no member's. */
export function emptyingErased(chunk: ImportChunkRow) {
  const ofMembers = new Set((chunk.outcomes ?? []).flatMap(({ row, memberId }) => (memberId ? [row] : [])));
  const erased = new Set(chunk.ofErased?.filter((row) => !ofMembers.has(row)));
  const { $set, $unset } = emptying(
    chunk,
    chunk.rows.flatMap(({ row }, index) => (erased.has(row) ? [index] : [])),
  );
  return { $set, $unset: { ...$unset, ofErased: '' } };
}

/** Empties those rows in the chunks that an ended import did not reach. */
export async function emptyErasedRows(deps: Deps, batchId: string): Promise<void> {
  for await (const chunk of deps.collections.importChunks.find({ batchId, ofErased: { $exists: true } }))
    await writeBulk(deps, [update(deps, 'importChunks', { _id: chunk._id }, emptyingErased(chunk))]);
}
