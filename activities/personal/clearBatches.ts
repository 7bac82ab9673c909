// Clears the rows of an erased member in the files of imports and in the target lists of batches, which are kept for
// some days. Undecided rows of an import stay, because they create a new member.
import type { Deps } from '../../platform/deps.js';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import { isFinished } from '../../schemas/batches.js';
import type { BatchRow, BatchTargetsRow, FullName, ImportChunkRow } from '../../schemas/collections.js';
import { formsOf, isEmptied, marksOfPerson, marksOfRows, plainOf } from '../../schemas/importMarks.js';
import { fieldOfHeader } from '../../schemas/importRows.js';

export interface OfPerson {
  memberId: string;
  merchantId: string;
  programId: string;
  /** Email, phone, external id and member code. They find the rows that created no member. */
  values: readonly string[];
  /** They find such rows in an erasure alone: in an export, a row with the same name may be about somebody else. */
  names?: readonly FullName[];
}

const chunksAtOnce = 10;
/** Replaces the id of an erased member in target lists. */
const nobody = 'erased';

export async function clearBatches(deps: Deps, person: OfPerson): Promise<void> {
  for await (const { batch, chunk } of importedRows(deps, person)) {
    const rows = rowsOf(chunk, { batch, person });
    // Not if the chunk was decided since it was read: its marks are others then.
    const asRead = { _id: chunk._id, outcomes: { $exists: chunk.outcomes !== undefined } };
    if (rows.length > 0) await writeBulk(deps, [update(deps, 'importChunks', asRead, withoutRows(chunk, rows))]);
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

interface Imported {
  batch: BatchRow;
  chunk: ImportChunkRow;
}

/** The chunks of imports into the member's program in which there may be rows about the person, each once. */
export async function* importedRows(deps: Deps, person: OfPerson): AsyncGenerator<Imported> {
  const { merchantId, programId } = person;
  const marks = { $in: marksOfPerson(merchantId, person) };
  const batches = new Map<string, BatchRow | undefined>();
  for await (const chunk of deps.collections.importChunks.find({ marks })) {
    const { batchId } = chunk;
    if (!batches.has(batchId)) {
      const [batch] = await findByIds(deps.collections.batches, { ids: [batchId], merchantId });
      batches.set(batchId, batch);
    }
    const batch = batches.get(batchId);
    // Those that an ended import did not reach come below.
    const isReached = chunk.outcomes !== undefined || (batch && !isFinished(batch.phase));
    if (batch?.programId === programId && isReached) yield { batch, chunk };
  }
  if (person.values.length > 0) yield* unprocessedRows(deps, person);
}

/** The chunks that imports had not reached when they ended. They have no marks, so all of them are read. */
async function* unprocessedRows(deps: Deps, { merchantId, programId }: OfPerson): AsyncGenerator<Imported> {
  const { batches, importChunks } = deps.collections;
  const imports = await batches.find({ merchantId, kind: 'members.import', programId }).toArray();
  const stopped = imports.filter(({ rowsUntil, done, counts }) => rowsUntil && done < counts.total);
  for (const batch of stopped)
    for (let before = batch.chunks ?? 0; before > 0; before -= chunksAtOnce) {
      const chunks = await importChunks
        .find({ batchId: batch._id, chunk: { $gte: before - chunksAtOnce, $lt: before } })
        .toArray();
      const unprocessed = chunks.filter(({ outcomes }) => !outcomes);
      for (const chunk of unprocessed) yield { batch, chunk };
      // Chunks are decided in their order.
      if (unprocessed.length < chunks.length) break;
    }
}

/** The positions in a chunk of the rows about the person. */
export function rowsOf(
  chunk: ImportChunkRow,
  { batch, person }: { batch: Pick<BatchRow, 'phase' | 'header' | 'mapping'>; person: OfPerson },
): number[] {
  const outcomes = new Map((chunk.outcomes ?? []).map((outcome) => [outcome.row, outcome]));
  const isAbout = aboutPerson(batch, person);
  return chunk.rows.flatMap(({ row, cells, reason }, index) => {
    if (isEmptied({ cells })) return [];
    const outcome = outcomes.get(row);
    const isDecided = outcome !== undefined || reason !== undefined || isFinished(batch.phase);
    const isNamed = outcome?.memberId === undefined && isAbout(cells);
    return outcome?.memberId === person.memberId || (isDecided && isNamed) ? [index] : [];
  });
}

/** Whether cells hold a value of the person, in its own column a short external id too, or both names. */
function aboutPerson(
  { header = [], mapping = [] }: Pick<BatchRow, 'header' | 'mapping'>,
  { values, names = [] }: OfPerson,
): (cells: readonly string[]) => boolean {
  const forms = new Set(values.flatMap(formsOf));
  const columns = new Map(mapping);
  const idColumn = header.findIndex((name) => fieldOfHeader(name, columns) === 'externalId');
  return (cells) => {
    const texts = new Set(cells.map(plainOf));
    return (
      cells.flatMap(formsOf).some((form) => forms.has(form)) ||
      values.includes(cells[idColumn]?.trim() ?? '') ||
      names.some(({ firstName, lastName }) => texts.has(plainOf(firstName)) && texts.has(plainOf(lastName)))
    );
  };
}

function withoutRows(chunk: ImportChunkRow, positions: readonly number[]) {
  const numbers = new Set(positions.map((index) => chunk.rows[index]?.row));
  const outcomes = (chunk.outcomes ?? []).flatMap((outcome, index) => (numbers.has(outcome.row) ? [index] : []));
  const left = chunk.rows.filter(({ row }) => !numbers.has(row));
  return {
    $set: {
      ...Object.fromEntries(positions.map((index) => [`rows.${index}.cells`, chunk.rows[index]?.cells.map(() => '')])),
      marks: marksOfRows(chunk.merchantId, { ...chunk, rows: left }),
    },
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
  for await (const targets of deps.collections.batchTargets.find({ ids: memberId }))
    if (targets.merchantId === merchantId) yield targets;
}
