// Clears the rows of an erased member in the files of imports and in the target lists of batches, which are kept for
// some days. Undecided rows of a running import wait for their decision, because they may create a new member
// (activities/batches/imports/erasedRows.writes.ts).
import type { Deps } from '../../platform/deps.js';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { BatchRow, BatchTargetsRow, ImportChunkRow, ImportRow } from '../../schemas/batches/batches.rows.js';
import { isFinished } from '../../schemas/batches/batches.schema.js';
import { fieldOfHeader } from '../../schemas/batches/importColumns.rules.js';
import { formsOf, isEmptied, marksOfPerson, plainOf, textsOfRow } from '../../schemas/batches/importMarks.rules.js';
import type { FullName } from '../../schemas/members/members.rows.js';
import { emptying } from '../batches/imports/erasedRows.writes.js';

export interface OfPerson {
  memberId: string;
  merchantId: string;
  programId: string;
  /** Email, phone, external id and member code. They find the rows that created no member. */
  values: readonly string[];
  /** They find such rows in an erasure alone: in an export, a row with the same name may be about somebody else. */
  names?: readonly FullName[];
  /** When the person was erased: imports that began later are about somebody else. */
  erasedAt?: Date;
}

const chunksAtOnce = 10;
/** Replaces the id of an erased member in target lists. */
const nobody = 'erased';

export async function clearBatches(deps: Deps, person: OfPerson): Promise<void> {
  // First, because a chunk that is decided meanwhile has marks.
  await flagUndecided(deps, person);
  for await (const { batch, chunk } of importedRows(deps, person)) {
    const rows = rowsOf(chunk, { batch, person });
    // Not if the chunk was decided since it was read: its marks are others then.
    const asRead = { _id: chunk._id, outcomes: { $exists: chunk.outcomes !== undefined } };
    if (rows.length > 0) await writeBulk(deps, [update(deps, 'importChunks', asRead, emptying(chunk, rows))]);
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

async function flagUndecided(deps: Deps, person: OfPerson): Promise<void> {
  for await (const { batch, chunk } of undecidedRows(deps, person, ({ phase }) => !isFinished(phase))) {
    const isAbout = aboutPerson(batch, person);
    const ofErased = chunk.rows.flatMap((row) => (row.reason === undefined && isAbout(row) ? [row.row] : []));
    const undecided = { _id: chunk._id, outcomes: { $exists: false } };
    const flag = { $addToSet: { ofErased: { $each: ofErased } } };
    if (ofErased.length > 0) await writeBulk(deps, [update(deps, 'importChunks', undecided, flag)]);
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
      const [batch] = await findByIds(deps, 'batches', { ids: [batchId], merchantId });
      batches.set(batchId, batch);
    }
    const batch = batches.get(batchId);
    // Those that an ended import did not reach come below.
    const isReached = chunk.outcomes !== undefined || (batch && !isFinished(batch.phase));
    if (batch?.programId === programId && isReached && isOld(batch, person)) yield { batch, chunk };
  }
  yield* undecidedRows(deps, person, ({ rowsUntil, done, counts }) => rowsUntil !== undefined && done < counts.total);
}

const isOld = ({ startedAt }: BatchRow, { erasedAt }: OfPerson): boolean => !erasedAt || startedAt <= erasedAt;

/** The chunks that imports have not reached. Most of their rows have no marks, so all of them are read. */
async function* undecidedRows(
  deps: Deps,
  person: OfPerson,
  isWanted: (batch: BatchRow) => boolean,
): AsyncGenerator<Imported> {
  const { merchantId, programId, values } = person;
  if (values.length === 0) return;
  const { batches, importChunks } = deps.collections;
  const imports = await batches.find({ merchantId, kind: 'members.import', programId }).toArray();
  for (const batch of imports.filter((one) => isWanted(one) && isOld(one, person))) {
    const { _id: batchId } = batch;
    // The chunks of an upload are stored several at a time.
    const end = batch.chunks ?? (await importChunks.countDocuments({ batchId })) + chunksAtOnce;
    for (let before = end; before > 0; before -= chunksAtOnce) {
      const chunks = await importChunks
        .find({ batchId, chunk: { $gte: before - chunksAtOnce, $lt: before } })
        .toArray();
      const undecided = chunks.filter(({ outcomes }) => !outcomes);
      for (const chunk of undecided) yield { batch, chunk };
      // Chunks are decided in their order.
      if (undecided.length < chunks.length) break;
    }
  }
}

/** The positions in a chunk of the rows about the person. */
export function rowsOf(
  chunk: ImportChunkRow,
  { batch, person }: { batch: Pick<BatchRow, 'phase' | 'header' | 'mapping'>; person: OfPerson },
): number[] {
  const outcomes = new Map((chunk.outcomes ?? []).map((outcome) => [outcome.row, outcome]));
  const isAbout = aboutPerson(batch, person);
  return chunk.rows.flatMap((row, index) => {
    if (isEmptied(row)) return [];
    const outcome = outcomes.get(row.row);
    const isDecided = outcome !== undefined || row.reason !== undefined || isFinished(batch.phase);
    const isNamed = outcome?.memberId === undefined && isAbout(row);
    return outcome?.memberId === person.memberId || (isDecided && isNamed) ? [index] : [];
  });
}

/** Whether a row holds a value of the person, in its own column a short external id too, or both names. */
function aboutPerson(
  { header = [], mapping = [] }: Pick<BatchRow, 'header' | 'mapping'>,
  { values, names = [] }: OfPerson,
): (row: ImportRow) => boolean {
  const forms = new Set(values.flatMap(formsOf));
  const columns = new Map(mapping);
  const idColumn = header.findIndex((name) => fieldOfHeader(name, columns) === 'externalId');
  return (row) => {
    const texts = new Set(row.cells.map(plainOf));
    return (
      textsOfRow(row)
        .flatMap(formsOf)
        .some((form) => forms.has(form)) ||
      values.includes(row.cells[idColumn]?.trim() ?? '') ||
      names.some(({ firstName, lastName }) => texts.has(plainOf(firstName)) && texts.has(plainOf(lastName)))
    );
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
