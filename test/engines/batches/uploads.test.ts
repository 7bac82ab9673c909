// Uploads of imports that break off: they end as failed and leave no rows, under any clock of any process, and an
// import that was queued is never ended with them. Rows stay for as long as their batch needs them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUpBatches } from '../../../activities/batches/cleanUpBatches.activity.js';
import { finishImport, issueImportedLate } from '../../../activities/batches/imports/finishImport.activity.js';
import {
  openImport,
  queueImport,
  storeChunk,
  touchUpload,
} from '../../../activities/batches/imports/openImport.effect.js';
import type { Deps } from '../../../platform/deps.js';
import type { BatchRow } from '../../../schemas/batches/batches.rows.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { migrate } from '../../../worker/migrate.js';
import { csvOf } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker } from '../../rig/start/testWorker.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let service: TestService;
let deps: Deps;
let merchant: TestMerchant;
let programId: string;

beforeAll(async () => {
  service = await startService({ worker: false });
  deps = service.deps;
  merchant = await aMerchant(service);
  programId = (await merchant.program())._id;
});
afterAll(() => service.stop());

const shifted = (byMs: number, by: Deps = deps): Deps => ({ ...by, now: () => new Date(Date.now() + byMs) });

/** An upload with two stored chunks, from an API process whose clock is `byMs` ahead. */
async function uploading(byMs = 0): Promise<BatchRow> {
  const api = shifted(byMs);
  const startedBy = { type: 'user', id: 'tester' } as const;
  const batch = await openImport(api, {
    merchantId: merchant.id,
    programId,
    header: ['email'],
    delimiter: ',',
    startedBy,
  });
  for (const chunk of [0, 1]) {
    const email = `${batch._id}.${chunk}@example.com`;
    await storeChunk(api, {
      batch,
      chunk,
      rows: [{ row: chunk + 1, line: chunk + 2, cells: [email], person: { email } }],
    });
  }
  return batch;
}

/** As after an API process died half a minute ago. */
async function breakOff({ _id }: BatchRow): Promise<void> {
  const seen = (await deps.collections.batches.findOne({ _id }))?.uploadSeenAt?.getTime() ?? 0;
  await deps.collections.batches.updateOne({ _id }, { $set: { uploadSeenAt: new Date(seen - 30_000) } });
}

/** Whether it was queued. */
const queue = ({ _id: batchId }: BatchRow): Promise<boolean> =>
  queueImport(deps, { batchId, chunks: 2, total: 2 }).then(
    () => true,
    (error: unknown) => (error instanceof ServiceError ? false : Promise.reject(error)),
  );
const batchOf = ({ _id }: BatchRow) => deps.collections.batches.findOne({ _id });
const rowsOf = ({ _id: batchId }: BatchRow) => deps.collections.importChunks.countDocuments({ batchId });
const eventsOf = ({ _id }: BatchRow) => deps.collections.events.find({ 'data.batchId': _id }).toArray();

/** Dependencies that run `happens` before the rows of an upload are searched for removal. */
function beforeRemoval(happens: () => Promise<unknown>): Deps {
  const importChunks = new Proxy(deps.collections.importChunks, {
    get(chunks, property) {
      if (property !== 'find') return Reflect.get(chunks, property);
      return (...given: Parameters<typeof chunks.find>) => {
        const toArray = async () => {
          await happens();
          return chunks
            .find(...given)
            .limit(200)
            .toArray();
        };
        return { limit: () => ({ toArray }) };
      };
    },
  });
  return { ...deps, collections: { ...deps.collections, importChunks } };
}

describe('an upload without a sign of life', () => {
  it.each([
    ['equal clocks', 0, 0],
    ['a worker that is an hour ahead', 0, hourMs],
    ['a worker that is an hour behind', 0, -hourMs],
    ['an API that is an hour ahead', hourMs, 0],
  ])('ends as failed with an event, and its rows are gone, with %s', async (_clocks, apiMs, workerMs) => {
    const broken = await uploading(apiMs);
    await breakOff(broken);
    await cleanUpBatches(shifted(workerMs));
    expect(await batchOf(broken)).toMatchObject({ phase: 'failed', finishedAt: expect.any(Date) });
    expect(await rowsOf(broken)).toBe(0);
    expect(await eventsOf(broken)).toMatchObject([{ type: 'batch.failed', state: 'new', leaseOwner: '' }]);
    expect(await queue(broken)).toBe(false);
    const shown = await merchant.call(`/merchants/me/batches/${broken._id}`);
    expect(shown.body.data).toMatchObject({ phase: 'failed', reason: expect.stringContaining('broke off') });
  });

  it.each([0, hourMs, -hourMs])('is not confused with a running one when clocks differ by %d ms', async (byMs) => {
    for (const [api, worker] of [
      [0, byMs],
      [byMs, 0],
    ] as const) {
      const alive = await uploading(api);
      await touchUpload(shifted(api), { batchId: alive._id, total: 2 });
      await cleanUpBatches(shifted(worker));
      expect(await rowsOf(alive)).toBe(2);
      expect(await queue(alive)).toBe(true);
    }
  });

  it('is either queued with all of its rows or failed, when both happen at the same time', async () => {
    const late = await uploading();
    await breakOff(late);
    const answers: boolean[] = [];
    await cleanUpBatches(beforeRemoval(async () => answers.push(await queue(late))));
    const queued = answers.includes(true);
    expect([(await batchOf(late))?.phase, await rowsOf(late)]).toEqual(queued ? ['queued', 2] : ['failed', 0]);
  });

  it('is cleaned up by the next run when the process that ended it died before its rows were removed', async () => {
    const broken = await uploading();
    await breakOff(broken);
    const dying = beforeRemoval(() => Promise.reject(new Error('the process died')));
    await cleanUpBatches(dying).catch(() => {});
    await cleanUpBatches(deps);
    expect([(await batchOf(broken))?.phase, await rowsOf(broken)]).toEqual(['failed', 0]);
    expect(await eventsOf(broken)).toHaveLength(1);
  });

  it('leaves no row of a process that was paused, continued to store rows, and then died', async () => {
    const broken = await uploading();
    await breakOff(broken);
    await cleanUpBatches(deps);
    await storeChunk(deps, { batch: broken, chunk: 2, rows: [{ row: 3, line: 4, cells: ['late'] }] });
    await cleanUpBatches(shifted(10 * 60_000));
    await cleanUpBatches(shifted(20 * 60_000));
    expect(await rowsOf(broken)).toBe(0);
    expect(await batchOf(broken)).not.toHaveProperty('rowsUntil');
  });

  it('is found among hundreds of running ones, and one that cannot be ended delays no other', async () => {
    const going = await Promise.all(Array.from({ length: 30 }, () => uploading()));
    const [first, second] = [await uploading(), await uploading()];
    for (const each of [first, second]) await breakOff(each);
    let failures = 1;
    const failing = beforeRemoval(async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('the disk is full');
    });
    await cleanUpBatches(failing).catch(() => {});
    expect((await rowsOf(first)) + (await rowsOf(second))).toBe(2);
    await cleanUpBatches(deps);
    expect((await rowsOf(first)) + (await rowsOf(second))).toBe(0);
    for (const each of going) expect(await queue(each)).toBe(true);
  });
});

describe('the rows of a batch', () => {
  const large = async () => {
    const answer = await merchant.call(`/merchants/me/imports?programId=${programId}`, {
      body: csvOf(3, `kept-${Math.random()}`),
      headers: { 'Content-Type': 'text/csv' },
    });
    return { _id: answer.body.data.id } as BatchRow;
  };

  it('have no TTL index, even where somebody created one', async () => {
    for (const name of ['importChunks', 'batchTargets'] as const) {
      await deps.collections[name].createIndex({ createdAt: 1 }, { name: 'createdAt_1', expireAfterSeconds: 604_800 });
      await migrate(deps);
      const kept = await deps.collections[name].indexes();
      expect(kept.filter((index) => index.expireAfterSeconds !== undefined)).toEqual([]);
    }
  });

  it('are kept until seven days after its end, and until its late passes are issued', async () => {
    const worker = await startTestWorker(service);
    const [waiting, ended, unissued] = [await large(), await large(), await large()];
    const counts = { total: 3, created: 3, deduped: 0, failed: 0 };
    await deps.collections.batches.updateOne({ _id: unissued._id }, { $set: { counts, phase: 'publishing' } });
    await deps.collections.importChunks.updateOne(
      { batchId: unissued._id },
      { $set: { outcomes: [], cumulative: { created: 3, deduped: 0, failed: 0 } } },
    );
    await finishImport(worker.deps, { batchId: ended._id });
    expect(await finishImport(worker.deps, { batchId: unissued._id })).toMatchObject({ unissued: true });
    const left = () => Promise.all([waiting, ended, unissued].map(rowsOf));
    await cleanUpBatches(shifted(6 * dayMs));
    expect(await left()).toEqual([1, 1, 1]);
    await cleanUpBatches(shifted(8 * dayMs));
    expect(await left()).toEqual([1, 0, 1]);
    const cancellationSignal = new AbortController().signal;
    await issueImportedLate(worker.deps, { batchId: unissued._id, save: () => {}, cancellationSignal });
    await cleanUpBatches(shifted(8 * dayMs));
    expect(await left()).toEqual([1, 0, 0]);
    await cleanUpBatches(shifted(400 * dayMs));
    expect(await left()).toEqual([1, 0, 0]);
    await worker.close();
  });
});
