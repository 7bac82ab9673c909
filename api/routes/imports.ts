// Imports (docs/interface.md#48-imports-and-batches): a small import answers with the outcome of every row, a large one
// with its batch.
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { BatchRow, ImportRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import { importInvalid } from '../../schemas/importRows.js';
import type { ApiDeps } from '../apiDeps.js';
import type { Caller } from '../caller.js';
import { markDuplicates } from '../imports/duplicateEmails.js';
import { awaitRows, countsOf, findUnansweredImport, importProgram, importResults } from '../imports/importAnswer.js';
import { openUpload, type Upload } from '../imports/upload.js';
import { buffersOf, readParts, readToEnd, requireUpload } from '../imports/uploadParts.js';
import { readRows } from '../imports/uploadRows.js';
import { presentBatch } from '../presenters/batch.js';
import type { Routes } from '../request.js';

export const importRoutes: Routes<'importMembers' | 'startImport'> = {
  async importMembers({ deps, caller, ctx }) {
    const batch = await importSmall(deps, { caller, ctx });
    const results = await importResults(deps, await awaitRows(deps, batch._id));
    return { data: { batchId: batch._id, counts: countsOf(results), results } };
  },

  async startImport({ deps, caller, query, ctx }) {
    const batch = await importLarge(deps, { caller, ctx, ...query });
    return { status: 202, data: presentBatch(batch, deps.now()) };
  },
};

interface At {
  caller: Caller;
  ctx: Context;
}

/** Reads the whole file before it stores the first row. */
async function importSmall(deps: ApiDeps, { caller, ctx }: At): Promise<BatchRow> {
  const { merchantId, actor: startedBy } = caller;
  const { IMPORT_MAX_BYTES: maxBytes, IMPORT_MAX_ROWS: maxRows } = deps.config;
  requireUpload(ctx, ['multipart/form-data']);
  const { programId, taken: file } = await readParts({ ctx, maxBytes, take: (bytes) => all(bytes) });
  const program = await importProgram(deps, { merchantId, programId, missing: 'is required' });
  const { header, chunks } = await readRows({ file: eachOf(file), program, maxBytes, maxRows });
  const rows: ImportRow[][] = await all(chunks);
  const fingerprint = fingerprintOf(program._id, file);
  const before = await findUnansweredImport(deps, { merchantId, fingerprint });
  if (before) return before;
  const upload = await openUpload(deps, {
    merchantId,
    programId: program._id,
    header,
    startedBy,
    dryRun: false,
    fingerprint,
  });
  return committed(upload, () => upload.store(rows));
}

interface LargeImport extends At {
  programId?: string | undefined;
  dryRun?: boolean | undefined;
}

/**
 * Stores the rows while it reads the file; an error later in the file deletes all of them. A client that breaks off has
 * no answer, so its batch stays and says that it failed.
 */
async function importLarge(deps: ApiDeps, { caller, ctx, dryRun = false, ...query }: LargeImport): Promise<BatchRow> {
  const { merchantId, actor: startedBy } = caller;
  const { BULK_IMPORT_MAX_BYTES: maxBytes, BULK_IMPORT_MAX_ROWS: maxRows } = deps.config;
  requireUpload(ctx, ['multipart/form-data', 'text/csv']);
  let upload: Upload | undefined;
  const take = async (file: AsyncIterable<Buffer>, part: string | undefined): Promise<void> => {
    if (part !== undefined && query.programId !== undefined && part !== query.programId)
      throw new ServiceError('VALIDATION_FAILED', [{ path: 'programId', message: 'is given twice' }]);
    const programId = query.programId ?? part;
    const program = await importProgram(deps, { merchantId, programId, missing: 'is required before the file' });
    const { header, chunks } = await readRows({ file, program, maxBytes, maxRows });
    upload = await openUpload(deps, { merchantId, programId: program._id, header, startedBy, dryRun });
    await upload.store(dryRun ? markDuplicates(chunks) : chunks);
  };
  try {
    if (ctx.is('multipart/form-data')) await readParts({ ctx, maxBytes, take });
    else await takeBody(ctx, take);
  } catch (error) {
    if (ctx.req.complete || !ctx.req.destroyed) await upload?.discard();
    else {
      await upload?.fail();
      throw importInvalid('the upload was cut off.');
    }
    throw error;
  }
  if (!upload) throw new Error('A file that was taken has an upload.');
  return committed(upload, async () => {});
}

async function takeBody(ctx: Context, take: (file: AsyncIterable<Buffer>, part: undefined) => Promise<void>) {
  try {
    await take(buffersOf(ctx.req), undefined);
  } catch (error) {
    await readToEnd(ctx);
    throw error;
  }
}

async function committed(upload: Upload, store: () => Promise<void>): Promise<BatchRow> {
  try {
    await store();
    return await upload.commit();
  } catch (error) {
    await upload.discard();
    throw error;
  }
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

async function* eachOf<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

function fingerprintOf(programId: string, file: readonly Buffer[]): string {
  const hash = createHash('sha256').update(programId).update('\n');
  for (const bytes of file) hash.update(bytes);
  return hash.digest('hex');
}
