// Imports (docs/interface.md#48-imports-and-batches): a small import answers with the outcome of every row, a large one
// with its batch, a dry run with what would happen.
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { z } from 'zod';
import type { OpenImport } from '../../activities/batches/imports/openImport.js';
import type { importDryRun } from '../../schemas/batches.js';
import type { BatchRow, ImportRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import { type ImportOptions, importOptionNames, importOptions } from '../../schemas/importOptions.js';
import { importInvalid } from '../../schemas/importRows.js';
import { mistakesOf } from '../../schemas/mistakes.js';
import type { Program } from '../../schemas/programs.js';
import type { ApiDeps } from '../apiDeps.js';
import type { Caller } from '../caller.js';
import type { UploadFile } from '../imports/decodeText.js';
import { dryRun, rowsPerLookup } from '../imports/dryRun.js';
import { awaitRows, countsOf, findUnansweredImport, importProgram, importResults } from '../imports/importAnswer.js';
import { openUpload, type Upload } from '../imports/upload.js';
import { buffersOf, readParts, readToEnd, requireUpload, type UploadFields } from '../imports/uploadParts.js';
import { type RowLimits, readRows, type UploadedRows } from '../imports/uploadRows.js';
import { inTurn } from '../largeRequests.js';
import { presentBatch } from '../presenters/batch.js';
import type { Routes } from '../request.js';

type DryRun = z.input<typeof importDryRun>;

export const importRoutes: Routes<'importMembers' | 'startImport'> = {
  async importMembers({ deps, caller, query, ctx }) {
    // The whole file is in memory while it is read.
    const { batch, tried } = await inTurn(deps, { ctx, merchantId: caller.merchantId }, () =>
      importSmall(deps, { caller, query, ctx }),
    );
    if (tried) return { data: tried };
    const results = await importResults(deps, await awaitRows(deps, batch._id));
    return { data: { batchId: batch._id, counts: countsOf(results), results } };
  },

  async startImport({ deps, caller, query, ctx }) {
    const { batch, tried } = await importLarge(deps, { caller, query, ctx });
    if (tried) return { status: 200, data: tried };
    return { status: 202, data: presentBatch(batch, deps.now()) };
  },
};

interface Import {
  caller: Caller;
  query: ImportOptions;
  ctx: Context;
}

type Imported = { batch: BatchRow; tried?: never } | { batch?: never; tried: DryRun };

/** Throws VALIDATION_FAILED, also for an option that query and form give differently. */
function optionsOf(query: ImportOptions, fields: UploadFields): ImportOptions {
  const parsed = importOptions.safeParse(fields);
  if (!parsed.success) throw new ServiceError('VALIDATION_FAILED', mistakesOf(importOptions, parsed.error));
  for (const name of importOptionNames)
    if (query[name] !== undefined && parsed.data[name] !== undefined && query[name] !== parsed.data[name])
      throw new ServiceError('VALIDATION_FAILED', [{ path: name, message: 'is given twice' }]);
  return { ...query, ...parsed.data };
}

/** The options that the batch stores. */
const keptOptions = ({
  quiet,
  mapping,
  repairs,
}: ImportOptions): Pick<OpenImport, 'quiet' | 'mapping' | 'repairs'> => ({
  ...(quiet && { quiet }),
  ...(mapping && mapping.size > 0 && { mapping: [...mapping] }),
  ...(repairs !== undefined && { repairs }),
});

interface ReadUpload {
  file: UploadFile;
  program: Program;
  options: ImportOptions;
  limits: RowLimits;
}

const rowsOf = (upload: ReadUpload): Promise<UploadedRows> => {
  const { file, program, options, limits } = upload;
  const size = options.dryRun && { rowsPerChunk: rowsPerLookup };
  return readRows({ file, program, mapping: options.mapping, ...limits, ...size });
};

/** Reads the whole file before the first row is stored. */
async function importSmall(deps: ApiDeps, { caller, query, ctx }: Import): Promise<Imported> {
  const { merchantId, actor: startedBy } = caller;
  const { config } = deps;
  const most = `${config.BULK_IMPORT_MAX_ROWS} rows and ${config.BULK_IMPORT_MAX_BYTES} bytes`;
  const beyond = `POST /merchants/me/imports takes up to ${most}.`;
  const limits = { maxBytes: config.IMPORT_MAX_BYTES, maxRows: config.IMPORT_MAX_ROWS, beyond };
  requireUpload(ctx, ['multipart/form-data']);
  const take = async ({ bytes, charset }: UploadFile) => ({ bytes: await all(bytes), charset });
  const { fields, taken } = await readParts({ ctx, ...limits, take });
  const options = optionsOf(query, fields);
  const program = await importProgram(deps, { merchantId, programId: options.programId, missing: 'is required' });
  const file = { bytes: eachOf(taken.bytes), charset: taken.charset };
  const read = await rowsOf({ file, program, options, limits });
  if (options.dryRun) return { tried: await dryRun(deps, { program, rows: read }) };
  const rows: ImportRow[][] = await all(read.chunks);
  const fingerprint = fingerprintOf({ ...options, programId: program._id, charset: taken.charset }, taken.bytes);
  const before = await findUnansweredImport(deps, { merchantId, fingerprint });
  if (before) return { batch: before };
  const upload = await openUpload(deps, {
    ...{ merchantId, programId: program._id, header: read.header, startedBy, fingerprint },
    ...keptOptions(options),
  });
  return { batch: await committed(upload, () => upload.store(rows)) };
}

/**
 * Stores the rows while it reads the file; an error later in the file deletes all of them. A client that disconnects
 * gets no answer, so its batch is kept with the phase failed.
 */
async function importLarge(deps: ApiDeps, { caller, query, ctx }: Import): Promise<Imported> {
  const { merchantId, actor: startedBy } = caller;
  const limits = { maxBytes: deps.config.BULK_IMPORT_MAX_BYTES, maxRows: deps.config.BULK_IMPORT_MAX_ROWS };
  const charset = requireUpload(ctx, ['multipart/form-data', 'text/csv']);
  let upload: Upload | undefined;
  const take = async (file: UploadFile, fields: UploadFields): Promise<DryRun | undefined> => {
    const options = optionsOf(query, fields);
    const missing = 'is required before the file';
    const program = await importProgram(deps, { merchantId, programId: options.programId, missing });
    const read = await rowsOf({ file, program, options, limits });
    if (options.dryRun) return deps.largeRequests.run(merchantId, () => dryRun(deps, { program, rows: read }));
    upload = await openUpload(deps, {
      ...{ merchantId, programId: program._id, header: read.header, startedBy },
      ...keptOptions(options),
    });
    await upload.store(read.chunks);
    return undefined;
  };
  let tried: DryRun | undefined;
  try {
    if (ctx.is('multipart/form-data'))
      ({ taken: tried } = await readParts({ ctx, maxBytes: limits.maxBytes, fieldsFirst: true, take }));
    else tried = await takeBody(ctx, (bytes) => take({ bytes, charset }, {}));
  } catch (error) {
    if (ctx.req.complete || !ctx.req.destroyed) await upload?.discard();
    else {
      await upload?.fail();
      throw importInvalid('the upload was cut off.');
    }
    throw error;
  }
  if (tried) return { tried };
  if (!upload) throw new Error('A file that was taken has an upload.');
  return { batch: await committed(upload, async () => {}) };
}

async function takeBody<T>(ctx: Context, take: (bytes: AsyncIterable<Buffer>) => Promise<T>): Promise<T> {
  try {
    return await take(buffersOf(ctx.req));
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

/** Equal for the same file with the same options. */
function fingerprintOf({ mapping, ...rest }: ImportOptions & { charset: string | undefined }, file: readonly Buffer[]) {
  const hash = createHash('sha256').update(JSON.stringify({ ...rest, mapping: [...(mapping ?? [])] }));
  for (const bytes of file) hash.update(bytes);
  return hash.digest('hex');
}
