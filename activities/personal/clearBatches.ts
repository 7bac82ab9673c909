// Clears the rows of an erased member in the files of imports and in the target lists of batches, which are kept for
// some days. Undecided rows of an import stay, because they create a new member.
import type { Deps } from '../../platform/deps.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import { isFinished } from '../../schemas/batches.js';
import type { BatchRow, BatchTargetsRow, ImportChunkRow } from '../../schemas/collections.js';

export interface OfPerson {
  memberId: string;
  merchantId: string;
  programId: string;
  /** Email, phone and external id. They find the rows that created no member. */
  values: readonly string[];
}

const chunksAtOnce = 10;
/** Replaces the id of an erased member in target lists. */
const nobody = 'erased';

export async function clearBatches(deps: Deps, person: OfPerson): Promise<void> {
  for await (const { batch, chunks } of importedRows(deps, person)) {
    const found = chunks.map((chunk) => ({ chunk, rows: rowsOf(chunk, { batch, person }) }));
    await writeBulk(
      deps,
      found
        .filter(({ rows }) => rows.length > 0)
        .map(({ chunk, rows }) => update(deps, 'importChunks', { _id: chunk._id }, withoutRows(chunk, rows))),
    );
  }
  for await (const targets of targetsWith(deps, person)) {
    const set = Object.fromEntries(
      (['ids', 'failedIds'] as const).flatMap((field) =>
        (targets[field] ?? []).flatMap((id, index) => (id === person.memberId ? [[`${field}.${index}`, nobody]] : [])),
      ),
    );
    await writeBulk(deps, [update(deps, 'batchTargets', { _id: targets._id }, { $set: set })]);
  }
}

/** The chunks that are still kept of all imports into the member's program. */
export async function* importedRows(
  deps: Deps,
  { merchantId, programId }: Pick<OfPerson, 'merchantId' | 'programId'>,
): AsyncGenerator<{ batch: BatchRow; chunks: ImportChunkRow[] }> {
  const { batches, importChunks } = deps.collections;
  const imports = await batches.find({ merchantId, kind: 'members.import', programId }).toArray();
  for (const batch of imports.filter(({ phase, rowsUntil }) => rowsUntil || !isFinished(phase)))
    for (let after = -1; ; after += chunksAtOnce) {
      const chunks = await importChunks
        .find({ batchId: batch._id, chunk: { $gt: after, $lte: after + chunksAtOnce } })
        .toArray();
      if (chunks.length === 0) break;
      yield { batch, chunks };
    }
}

/** The positions in a chunk of the rows about the person. */
export function rowsOf(
  chunk: ImportChunkRow,
  { batch, person }: { batch: Pick<BatchRow, 'phase'>; person: Pick<OfPerson, 'memberId' | 'values'> },
): number[] {
  const outcomes = new Map((chunk.outcomes ?? []).map((outcome) => [outcome.row, outcome]));
  return chunk.rows.flatMap(({ row, cells, reason }, index) => {
    if (cells.every((cell) => cell === '')) return [];
    const outcome = outcomes.get(row);
    const isDecided = outcome !== undefined || reason !== undefined || isFinished(batch.phase);
    const isNamed = outcome?.memberId === undefined && cells.some((cell) => sameAs(cell, person.values));
    return outcome?.memberId === person.memberId || (isDecided && isNamed) ? [index] : [];
  });
}

const plain = (value: string): string => value.trim().toLowerCase();
const digits = (value: string): string => value.replace(/\D/g, '');

/** Shorter values are too likely to match something else, such as a number of points. */
const shortest = 6;

/** Whether a cell contains one of the values, in any notation. */
function sameAs(cell: string, values: readonly string[]): boolean {
  return values.some(
    (value) =>
      value.length >= shortest &&
      (plain(cell) === plain(value) || (digits(value).length >= shortest && digits(cell) === digits(value))),
  );
}

function withoutRows(chunk: ImportChunkRow, positions: readonly number[]) {
  const numbers = new Set(positions.map((index) => chunk.rows[index]?.row));
  const outcomes = (chunk.outcomes ?? []).flatMap((outcome, index) => (numbers.has(outcome.row) ? [index] : []));
  return {
    $set: Object.fromEntries(positions.map((index) => [`rows.${index}.cells`, chunk.rows[index]?.cells.map(() => '')])),
    $unset: Object.fromEntries([
      ...positions.map((index) => [`rows.${index}.person`, '']),
      ...outcomes.map((index) => [`outcomes.${index}.memberCode`, '']),
    ]),
  };
}

/** The chunks of target lists with the member's id. */
export async function* targetsWith(
  deps: Deps,
  { memberId, merchantId }: Pick<OfPerson, 'memberId' | 'merchantId'>,
): AsyncGenerator<BatchTargetsRow> {
  const { batches, batchTargets } = deps.collections;
  const kinds = ['campaign', 'passes.rebuild'] as const;
  const lists = await batches
    .find({ merchantId, kind: { $in: [...kinds] } }, { projection: { phase: 1, rowsUntil: 1 } })
    .toArray();
  for (const { _id: batchId } of lists.filter(({ phase, rowsUntil }) => rowsUntil || !isFinished(phase)))
    yield* batchTargets.find({ batchId, ids: memberId });
}
