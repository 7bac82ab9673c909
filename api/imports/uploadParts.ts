// Reads the multipart parts of an upload from the stream, without temporary files: one `file` and a few short fields. A
// body that is cut off or has a wrong part is refused. The rest of a refused body is read and discarded, because a
// client that is still sending does not read the answer.
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import type { Context } from 'koa';
import { ServiceError } from '../../schemas/errors.js';
import { importInvalid, importTooLarge } from '../../schemas/importRows.js';
import { declaresUtf8 } from '../readBody.js';

export interface UploadLimits {
  maxBytes: number;
}

export interface Parts<T> {
  programId: string | undefined;
  taken: T;
}

export interface ReadParts<T> extends UploadLimits {
  ctx: Context;
  /** Reads the file to its end or throws. `programId` is undefined unless its part came before the file. */
  take: (file: AsyncIterable<Buffer>, programId: string | undefined) => Promise<T>;
}

/** The names of the CSV type, and the types that browsers and programs send when they do not know CSV. */
const csvTypes: readonly string[] = [
  'text/csv',
  'application/csv',
  'text/x-csv',
  'application/x-csv',
  'text/comma-separated-values',
  'application/vnd.ms-excel',
  'text/plain',
  'application/octet-stream',
];

const limits = {
  fieldNameSize: 100,
  fieldSize: 256,
  fields: 4,
  files: 1,
  parts: 6,
  headerPairs: 20,
  headerSize: 4_096,
};
/** Allowed in addition to the file: boundaries, headers and fields. */
const overheadBytes = 16_384;

export function requireUpload(ctx: Context, types: readonly string[]): void {
  const encoding = ctx.get('Content-Encoding');
  if ((encoding && encoding !== 'identity') || !ctx.is([...types]) || !declaresUtf8(ctx))
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');
}

/** Throws UNSUPPORTED_MEDIA_TYPE, IMPORT_INVALID, IMPORT_TOO_LARGE, VALIDATION_FAILED and what `take` throws. */
export async function readParts<T>({ ctx, maxBytes, take }: ReadParts<T>): Promise<Parts<T>> {
  const parser = openParser(ctx);
  let programId: string | undefined;
  let taking: Promise<T> | undefined;
  let total = 0;
  const taken = await new Promise<T>((resolve, reject) => {
    ctx.req.on('data', (chunk: Buffer) => {
      total += chunk.length;
      if (total > maxBytes + overheadBytes) reject(importTooLarge(`${maxBytes} bytes`));
    });
    ctx.req.on('error', () => reject(importInvalid('the upload was cut off.')));
    ctx.req.on('close', () => {
      if (!ctx.req.complete) reject(importInvalid('the upload was cut off.'));
    });
    parser.on('error', () => reject(importInvalid('its multipart body is broken.')));
    parser.on('partsLimit', () => reject(importInvalid('it has too many parts.')));
    parser.on('fieldsLimit', () => reject(importInvalid('it has too many parts.')));
    parser.on('filesLimit', () => reject(importInvalid('it has a second file.')));
    parser.on('field', (name, value, _nameTruncated, valueTruncated) => {
      const wrong = wrongField(name, { value, valueTruncated, given: programId !== undefined });
      if (wrong) reject(wrong);
      else programId = value;
    });
    parser.on('file', (name, file, _fileName, _encoding, type) => {
      file.on('error', () => reject(importInvalid('the upload was cut off.')));
      if (name !== 'file') return reject(unknownPart(name));
      if (!csvTypes.includes(type)) return reject(importInvalid(`its part "file" is not CSV (text/csv).`));
      taking = take(buffersOf(file), programId);
      taking.catch(reject);
    });
    parser.on('finish', () => {
      if (taking) taking.then(resolve, reject);
      else reject(importInvalid('it has no part "file".'));
    });
    ctx.req.pipe(parser);
  }).catch(async (error: unknown) => {
    ctx.req.unpipe(parser);
    await readToEnd(ctx);
    throw error;
  });
  return { programId, taken };
}

function openParser(ctx: Context) {
  const type = ctx.get('Content-Type');
  try {
    return new Busboy({ headers: { ...ctx.req.headers, 'content-type': type }, limits });
  } catch {
    throw importInvalid('its multipart body has no boundary.');
  }
}

const unknownPart = (name: string): ServiceError =>
  new ServiceError('VALIDATION_FAILED', [{ path: name, message: 'is not a known field' }]);

function wrongField(
  name: string,
  { value, valueTruncated, given }: { value: string; valueTruncated: boolean; given: boolean },
): ServiceError | null {
  if (name === 'file') return importInvalid('its part "file" is text and not a file.');
  if (name !== 'programId') return unknownPart(name);
  if (given) return new ServiceError('VALIDATION_FAILED', [{ path: 'programId', message: 'is given twice' }]);
  if (valueTruncated || value.length < 1 || value.length > 64)
    return new ServiceError('VALIDATION_FAILED', [{ path: 'programId', message: 'must have 1 to 64 characters' }]);
  return null;
}

const drainLimits = { bytes: 64 * 1_048_576, ms: 5_000 };

/**
 * Reads and discards the rest of a body, up to `drainLimits`: a client that is still sending does not read the answer.
 */
export async function readToEnd({ req }: Context): Promise<void> {
  if (req.complete || req.destroyed) return;
  await new Promise<void>((resolve) => {
    let left = drainLimits.bytes;
    const timer = setTimeout(end, drainLimits.ms);
    function end(): void {
      clearTimeout(timer);
      resolve();
    }
    req.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) end();
    });
    req.once('end', end);
    req.once('close', end);
    req.resume();
  });
}

/** The source stays open when the reader stops early. */
export async function* buffersOf(source: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of source.iterator({ destroyOnReturn: false })) yield chunk;
}
