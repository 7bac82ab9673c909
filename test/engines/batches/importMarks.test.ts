// The rows of imported files about one person are found without reading the files of all imports: those that became the
// member, those that became none and hold a value of the person, and those that an ended import never reached.
import type { Filter } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clearBatches, type OfPerson } from '../../../activities/persons/clearBatches.writes.js';
import { memberRows } from '../../../activities/persons/memberRows.reads.js';
import type { Collections, Deps } from '../../../platform/deps.js';
import type { BatchRow, ImportChunkRow, ImportRow, ImportRowOutcome } from '../../../schemas/batches/batches.rows.js';
import { marksOfRows } from '../../../schemas/batches/importMarks.rules.js';
import { newId } from '../../../schemas/shared/ids.js';
import { batchRow } from '../../rig/start/batchRow.js';
import { startService, type TestService } from '../../rig/start/service.js';

const chunksOfFile = 100;
const rowsOfChunk = 100;
const merchantId = newId();
const programId = newId();
const person: OfPerson = {
  ...{ memberId: newId(), merchantId, programId },
  values: ['ada@example.com', '+49 170 5554443', 'CARD-4711'],
};
let service: TestService;
let deps: Deps;
/** How many chunks were read. */
let read = 0;

beforeAll(async () => {
  service = await startService({ worker: false });
  const { importChunks } = service.deps.collections;
  const find = (filter: Filter<ImportChunkRow>) => {
    const cursor = importChunks.find(filter);
    return cursor.map((chunk) => {
      read += 1;
      return chunk;
    });
  };
  const watched = Object.assign(Object.create(importChunks), { find }) as Collections['importChunks'];
  deps = { ...service.deps, collections: { ...service.deps.collections, importChunks: watched } };
});
afterAll(() => service.stop());
beforeEach(() => {
  read = 0;
});

const cellsOf = (row: number) => [`Name${row}`, `p${row}@example.com`, `+49 171 ${1_000_000 + row}`];

async function aFile(
  change: (row: ImportRow, outcome: ImportRowOutcome) => void,
  { decidedChunks = chunksOfFile, ...given }: Partial<BatchRow> & { decidedChunks?: number } = {},
): Promise<string> {
  const batch = batchRow({
    ...{
      merchantId,
      programId,
      kind: 'members.import',
      phase: 'completed',
      chunks: chunksOfFile,
      header: ['a', 'b', 'c'],
    },
    ...{ done: decidedChunks * rowsOfChunk, finishedAt: new Date(), rowsUntil: new Date(Date.now() + 600_000) },
    ...given,
  });
  batch.counts.total = chunksOfFile * rowsOfChunk;
  await service.deps.collections.batches.insertOne(batch);
  const chunks = Array.from({ length: chunksOfFile }, (_, chunk): ImportChunkRow => {
    const rows = Array.from({ length: rowsOfChunk }, (__, index): [ImportRow, ImportRowOutcome] => {
      const number = chunk * rowsOfChunk + index + 1;
      const row: ImportRow = { row: number, line: number + 1, cells: cellsOf(number) };
      const outcome: ImportRowOutcome = { row: number, outcome: 'created', memberId: newId(), memberCode: newId() };
      change(row, outcome);
      return [row, outcome];
    });
    const stored = {
      rows: rows.map(([row]) => row),
      ...(chunk < decidedChunks && { outcomes: rows.map(([, outcome]) => outcome) }),
    };
    const marks = marksOfRows(merchantId, stored);
    return { _id: `${batch._id}:${chunk}`, batchId: batch._id, merchantId, chunk, ...stored, marks };
  });
  await service.deps.collections.importChunks.insertMany(chunks);
  return batch._id;
}

const failed = (row: ImportRow, outcome: ImportRowOutcome, cells: string[]) => {
  row.cells = cells;
  outcome.outcome = 'failed';
  delete outcome.memberId;
};
const rowsFound = async (name: { firstName?: string; lastName?: string; externalId?: string } = {}) => {
  const { values, ...at } = person;
  const [email, phone, externalId] = values;
  const member = { ...at, _id: person.memberId, memberCode: 'ABCDE12345', email, phone, externalId, ...name };
  const found: number[] = [];
  for await (const { row } of memberRows(deps, 'importChunks', member as never)) found.push(row);
  return found.toSorted((a, b) => a - b);
};
const rowAt = async (batchId: string, number: number) => {
  const chunk = await service.deps.collections.importChunks.findOne({
    _id: `${batchId}:${Math.floor((number - 1) / rowsOfChunk)}`,
  });
  return chunk?.rows.find(({ row }) => row === number);
};

describe('of 10,000 rows of a file', () => {
  it('those about a person are found by reading their chunks alone, and emptied', async () => {
    const own = await aFile((row, outcome) => {
      if (row.row === 4_211) outcome.memberId = person.memberId;
      if (row.row === 815) failed(row, outcome, ['', ' ADA@example.com', 'no number']);
      if (row.row === 9_001) failed(row, outcome, ['Somebody', 'broken@', '0049-170/5554443']);
      if (row.row === 9_500) failed(row, outcome, ['', '', '+491705554443']);
      // The row of another member stays, even if it contains the values.
      if (row.row === 77) row.cells = ['Other', 'ada@example.com', ''];
      if (row.row === 78) failed(row, outcome, ['Other', 'other@example.com', '1234567']);
      if (row.row === 79) failed(row, outcome, ['Other', '', '0048 170 5554443']);
    });
    expect(await rowsFound()).toEqual([815, 4_211, 9_001, 9_500]);
    expect(read).toBe(4);
    read = 0;
    await clearBatches(deps, person);
    expect(read).toBe(4);
    for (const row of [815, 4_211, 9_001, 9_500]) expect((await rowAt(own, row))?.cells).toEqual(['', '', '']);
    expect((await rowAt(own, 814))?.cells).toEqual(cellsOf(814));
    expect((await rowAt(own, 77))?.cells).toContain('ada@example.com');
    read = 0;
    await clearBatches(deps, person);
    expect([read, await rowsFound()]).toEqual([0, []]);
    // The marks of others in the same chunk are still there.
    read = 0;
    await clearBatches(deps, { ...person, memberId: newId(), values: ['other@example.com'] });
    expect([read, (await rowAt(own, 78))?.cells]).toEqual([1, ['', '', '']]);
  });

  it('failed ones with only the name or a short external id are emptied as well; an export does not search by name', async () => {
    const short: OfPerson = { ...person, memberId: newId(), values: ['A12'] };
    const named = { ...short, names: [{ firstName: 'Ada', lastName: 'Lovelace' }] };
    const cells: Record<number, string[]> = {
      10: ['lovelace ', 'not-an-email', 'ADA'],
      11: ['Lovelace', 'Grace', ''],
      20: ['', '', ' A12'],
      21: ['A12', '', ''],
      22: ['', '', 'A123'],
    };
    const file = await aFile(
      (row, outcome) => {
        const given = cells[row.row];
        if (given) failed(row, outcome, given);
        if (row.row === 30) row.cells = ['Lovelace', 'Ada', 'A12'];
      },
      { header: ['Surname', 'firstName', 'Card'], mapping: [['card', 'externalId']] },
    );
    const emptied = async () => {
      const rows = await Promise.all([10, 11, 20, 21, 22, 30].map((number) => rowAt(file, number)));
      return rows.filter((row) => row?.cells.join('') === '').map((row) => row?.row);
    };
    expect(await rowsFound({ firstName: 'Ada', lastName: 'Lovelace', externalId: 'A12' })).toEqual([20]);
    await clearBatches(deps, short);
    expect(await emptied()).toEqual([20]);
    read = 0;
    await clearBatches(deps, named);
    expect([await emptied(), read]).toEqual([[10, 20], 1]);
  });

  it('those that an ended import never reached are found, each once; the chunks that it decided are not read', async () => {
    const isAda = (row: ImportRow) => row.row === 9_950 || row.row === 9_960;
    const stopped = await aFile(
      (row) => {
        if (isAda(row)) row.cells = ['Ada', 'ada@example.com', ''];
        if (row.row === 9_960) row.reason = 'phone: is wrong';
      },
      { phase: 'cancelled', decidedChunks: 95 },
    );
    expect(await rowsFound()).toEqual([9_950, 9_960]);
    expect(read).toBeLessThan(25);
    await clearBatches(deps, person);
    expect((await rowAt(stopped, 9_950))?.cells).toEqual(['', '', '']);
    expect(await rowsFound()).toEqual([]);
    read = 0;
    // What the person was looked for by is removed after the first run.
    await clearBatches(deps, { ...person, values: [] });
    expect(read).toBe(0);
  });

  it('those that wait in a running import are kept, except those that cannot become a member', async () => {
    const running = await aFile(
      (row) => {
        if (row.row === 5 || row.row === 6) row.cells = ['Ada', 'ada@example.com', ''];
        if (row.row === 6) row.reason = 'phone: is wrong';
      },
      { phase: 'queued', decidedChunks: 0 },
    );
    const { batches } = service.deps.collections;
    await batches.updateOne({ _id: running }, { $unset: { rowsUntil: '', finishedAt: '' } });
    await clearBatches(deps, person);
    expect((await rowAt(running, 5))?.cells).toEqual(['Ada', 'ada@example.com', '']);
    expect((await service.deps.collections.importChunks.findOne({ _id: `${running}:0` }))?.ofErased).toEqual([5]);
    expect((await rowAt(running, 6))?.cells).toEqual(['', '', '']);
  });

  it('those of other merchants and of other programs are not touched', async () => {
    const elsewhere = await aFile(
      (row, outcome) => {
        if (row.row === 3) failed(row, outcome, ['Ada', 'ada@example.com', '']);
      },
      { programId: newId() },
    );
    await clearBatches(deps, person);
    await clearBatches(deps, { ...person, merchantId: newId() });
    expect((await rowAt(elsewhere, 3))?.cells).toEqual(['Ada', 'ada@example.com', '']);
  });
});
