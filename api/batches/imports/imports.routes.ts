// Imports (docs/interface.md#48-imports-and-batches): a small import answers with the outcome of every row, a large one
// with its batch, a dry run with what would happen.
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { type BatchKey, findKeyedBatch } from '../../../activities/batches/batchKeys.rules.js';
import type { OpenImport } from '../../../activities/batches/imports/openImport.effect.js';
import type { BatchRow, ImportRow } from '../../../schemas/batches/batches.rows.js';
import { importInvalid } from '../../../schemas/batches/importFile.rules.js';
import { type ImportOptions, importOptionNames, importOptions } from '../../../schemas/batches/importOptions.schema.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { type Language, languageOf } from '../../../schemas/shared/languages/index.js';
import { mistakesOf } from '../../../schemas/shared/mistakes.rules.js';
import type { ApiDeps } from '../../http/apiDeps.js';
import type { Caller } from '../../http/caller.reads.js';
import { asAccepted, sayRepeated } from '../../http/idempotencyKey.js';
import { inTurn } from '../../http/largeRequests.js';
import { readToEnd } from '../../http/readToEnd.js';
import type { Routes } from '../../http/request.js';
import { presentBatch } from '../batch.view.js';
import type { UploadFile } from './decodeText.rules.js';
import { dryRun, rowsPerLookup } from './dryRun.reads.js';
import { awaitRows, countsOf, importProgram, importResults } from './importAnswer.effect.js';
import { hashFile, openImportRequest } from './importRequest.rules.js';
import { openUpload, type Upload } from './upload.effect.js';
import { buffersOf, readParts, requireUpload, type UploadFields } from './uploadParts.rules.js';
import { type RowLimits, readRows, type UploadedRows } from './uploadRows.rules.js';

const type = 'application/json';

export const importRoutes: Routes<'importMembers' | 'startImport'> = {
  async importMembers({ deps, caller, query, ctx }) {
    // The whole file is in memory while it is read.
    const { batch, isRepeated, tried } = await inTurn(deps, { ctx, merchantId: caller.merchantId }, () =>
      importSmall(deps, { caller, query, ctx }),
    );
    if (tried) return { stream: tried, type };
    const results = await importResults(deps, await awaitRows(deps, batch._id));
    sayRepeated(ctx, isRepeated);
    return { data: { batchId: batch._id, counts: countsOf(results), results } };
  },

  async startImport({ deps, caller, query, ctx }) {
    const { batch, isRepeated, tried } = await importLarge(deps, { caller, query, ctx });
    if (tried) return { stream: tried, type };
    sayRepeated(ctx, isRepeated);
    return { status: 202, data: presentBatch(asAccepted(batch), deps.now()) };
  },
};

interface Import {
  caller: Caller;
  query: ImportOptions;
  ctx: Context;
}

type Imported =
  | { batch: BatchRow; isRepeated: boolean; tried?: never }
  | { batch?: never; isRepeated?: never; tried: Readable };

/** Throws VALIDATION_FAILED, also for an option that query and form give differently. */
function optionsOf(query: ImportOptions, fields: UploadFields): ImportOptions {
  const parsed = importOptions.safeParse(fields);
  if (!parsed.success) throw new ServiceError('VALIDATION_FAILED', mistakesOf(importOptions, parsed.error));
  for (const name of importOptionNames)
    if (query[name] !== undefined && parsed.data[name] !== undefined && query[name] !== parsed.data[name])
      throw new ServiceError('VALIDATION_FAILED', [{ path: name, message: 'is given twice' }]);
  return { ...query, ...parsed.data };
}

/**
 * The options, with the columns of the import whose rows are sent again; a column that is given anew is that. Throws
 * VALIDATION_FAILED when `repairs` is no import of the merchant.
 */
async function withRepaired(deps: ApiDeps, merchantId: string, options: ImportOptions): Promise<ImportOptions> {
  const { repairs, mapping = [] } = options;
  if (repairs === undefined) return options;
  const repaired = await deps.collections.batches.findOne({ _id: repairs, merchantId, kind: 'members.import' });
  if (!repaired) throw new ServiceError('VALIDATION_FAILED', [{ path: 'repairs', message: 'is the id of no import' }]);
  return { ...options, mapping: new Map([...(repaired.mapping ?? []), ...mapping]) };
}

/** What the batch stores of the request. */
const keptOptions = (
  { quiet, mapping, repairs }: ImportOptions,
  { header, delimiter, columns: { unused } }: UploadedRows,
): Omit<OpenImport, 'merchantId' | 'programId' | 'startedBy' | 'awaited'> => ({
  header,
  delimiter,
  ...(quiet && { quiet }),
  ...(unused.length > 0 && { unusedColumns: [...unused] }),
  ...(mapping && mapping.size > 0 && { mapping: [...mapping] }),
  ...(repairs !== undefined && { repairs }),
});

const languageAskedFor = (ctx: Context): Language => languageOf({}, ctx.get('Accept-Language'));

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
  const request = await openImportRequest(deps, { ctx, merchantId });
  const take = async ({ bytes, charset }: UploadFile) => ({ bytes: await all(bytes), charset });
  const { fields, taken } = await readParts({ ctx, ...limits, take });
  const given = optionsOf(query, fields);
  const program = await importProgram(deps, { merchantId, ...given, missing: 'is required', request });
  const { charset } = taken;
  const { bytes, fingerprint } = hashFile(eachOf(taken.bytes), { ...given, programId: program._id, charset });
  const options = await withRepaired(deps, merchantId, given);
  const read = await rowsOf({ file: { bytes, charset }, program, options, limits });
  if (options.dryRun) return { tried: await dryRun(deps, { program, rows: read, language: languageAskedFor(ctx) }) };
  const rows: ImportRow[][] = await all(read.chunks);
  const key = await request.key(fingerprint());
  const earlier = await findKeyedBatch(deps, key);
  if (earlier) return { batch: earlier, isRepeated: true };
  const upload = await openUpload(deps, {
    ...{ merchantId, programId: program._id, startedBy, awaited: true },
    ...keptOptions(options, read),
  });
  return committed(upload, async () => {
    await upload.store(rows);
    return key;
  });
}

/**
 * Stores the rows while it reads the file; an error later in the file deletes all of them. A client that disconnects
 * gets no answer, so its batch is kept with the phase failed.
 */
async function importLarge(deps: ApiDeps, { caller, query, ctx }: Import): Promise<Imported> {
  const { merchantId, actor: startedBy } = caller;
  const limits = { maxBytes: deps.config.BULK_IMPORT_MAX_BYTES, maxRows: deps.config.BULK_IMPORT_MAX_ROWS };
  const charset = requireUpload(ctx, ['multipart/form-data', 'text/csv']);
  const request = await openImportRequest(deps, { ctx, merchantId });
  let upload: Upload | undefined;
  let tried: Readable | undefined;
  const take = async (sent: UploadFile, fields: UploadFields): Promise<Readable | BatchKey> => {
    const given = optionsOf(query, fields);
    const missing = 'is required before the file';
    const program = await importProgram(deps, { merchantId, ...given, missing, request });
    const programId = program._id;
    const { bytes, fingerprint } = hashFile(sent.bytes, { ...given, programId, charset: sent.charset });
    const file = { ...sent, bytes };
    const options = await withRepaired(deps, merchantId, given);
    if (options.dryRun) {
      const read = await rowsOf({ file, program, options, limits });
      tried = await deps.largeRequests.run(merchantId, async () => {
        const answer = await dryRun(deps, { program, rows: read, language: languageAskedFor(ctx) });
        // Its reader may be slow, as that of an export.
        return answer.once('close', await deps.exports.begin(merchantId));
      });
      return tried;
    }
    if (await request.isRepeated()) {
      // Only the fingerprint of the file is needed.
      for await (const _ of bytes);
      return request.key(fingerprint());
    }
    const read = await rowsOf({ file, program, options, limits });
    upload = await openUpload(deps, { merchantId, programId, startedBy, ...keptOptions(options, read) });
    await upload.store(read.chunks);
    return request.key(fingerprint());
  };
  let taken: Readable | BatchKey;
  try {
    if (ctx.is('multipart/form-data'))
      ({ taken } = await readParts({ ctx, maxBytes: limits.maxBytes, fieldsFirst: true, take }));
    else taken = await takeBody(ctx, (bytes) => take({ bytes, charset }, {}));
  } catch (error) {
    tried?.destroy();
    if (ctx.req.complete || !ctx.req.destroyed) await upload?.discard();
    else {
      await upload?.fail();
      throw importInvalid('the upload was cut off.');
    }
    throw error;
  }
  if (taken instanceof Readable) return { tried: taken };
  const key = taken;
  if (upload) return committed(upload, async () => key);
  const earlier = await findKeyedBatch(deps, key);
  if (!earlier) throw new ServiceError('IDEMPOTENCY_KEY_IN_USE');
  return { batch: earlier, isRepeated: true };
}

async function takeBody<T>(ctx: Context, take: (bytes: AsyncIterable<Buffer>) => Promise<T>): Promise<T> {
  try {
    return await take(buffersOf(ctx.req));
  } catch (error) {
    await readToEnd(ctx);
    throw error;
  }
}

async function committed(upload: Upload, store: () => Promise<BatchKey>): Promise<Imported> {
  try {
    const batch = await upload.commit(await store());
    return { batch, isRepeated: batch._id !== upload.batchId };
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
