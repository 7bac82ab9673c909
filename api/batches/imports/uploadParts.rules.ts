// Reads the multipart parts of an upload from the stream, without temporary files: one `file` and a few short fields. A
// body that is cut off or has a wrong part is refused. The rest of a refused body is read and discarded, because a
// client that is still sending does not read the answer.
import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import type { Context } from 'koa';
import { type Charset, charsets, importInvalid, importTooLarge } from '../../../schemas/batches/importFile.rules.js';
import { type ImportOptionName, importOptionNames } from '../../../schemas/batches/importOptions.schema.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { readToEnd } from '../../http/readToEnd.js';
import { charsetNamed, type UploadFile } from './decodeText.rules.js';

/** The form fields as received. */
export type UploadFields = Partial<Record<ImportOptionName, string>>;

export interface Parts<T> {
  fields: UploadFields;
  taken: T;
}

export interface ReadParts<T> {
  ctx: Context;
  maxBytes: number;
  /** Consumes a file of at most `maxBytes`. */
  beyond?: string;
  /** The file is processed while it is received, so no field may come after it. */
  fieldsFirst?: boolean;
  /** Reads the file to its end or throws. `fields` holds the fields that came before the file. */
  take: (file: UploadFile, fields: UploadFields) => Promise<T>;
}

/** The media types of CSV, and those that browsers and programs send when they do not know CSV. */
const csvTypes: readonly string[] = [
  'text/csv',
  'application/csv',
  'text/x-csv',
  'application/x-csv',
  'text/comma-separated-values',
  'text/tab-separated-values',
  'application/vnd.ms-excel',
  'text/plain',
  'application/octet-stream',
];

const limits = {
  fieldNameSize: 100,
  fieldSize: 8_192,
  fields: 6,
  files: 1,
  parts: 8,
  headerPairs: 20,
  headerSize: 4_096,
};
/** Allowed in addition to the file: boundaries, headers and fields. */
const overheadBytes = 32_768;

/**
 * Returns the charset when the body is the file itself; in a form, the charset is in the part of the file. Throws
 * UNSUPPORTED_MEDIA_TYPE.
 */
export function requireUpload(ctx: Context, types: readonly string[]): Charset | undefined {
  const encoding = ctx.get('Content-Encoding');
  const label = ctx.request.charset;
  const charset = charsetNamed(label);
  if ((encoding && encoding !== 'identity') || !ctx.is([...types]) || (label && !charset))
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');
  return charset;
}

/** Throws IMPORT_INVALID, IMPORT_TOO_LARGE, VALIDATION_FAILED and the errors of `take`. */
export async function readParts<T>({ ctx, maxBytes, beyond, fieldsFirst, take }: ReadParts<T>): Promise<Parts<T>> {
  const parser = openParser(ctx);
  const charsetLabel = watchCharset(parser);
  const fields: UploadFields = {};
  let reading: Readable | undefined;
  let taking: Promise<T> | undefined;
  let total = 0;
  const taken = await new Promise<T>((resolve, reject) => {
    const cutOff = () => reject(importInvalid('the upload was cut off.'));
    // The client may have left while something else was looked up.
    if (ctx.req.destroyed) return cutOff();
    ctx.req.on('data', (chunk: Buffer) => {
      total += chunk.length;
      if (total > maxBytes + overheadBytes) reject(importTooLarge(`${maxBytes} bytes`, beyond));
    });
    ctx.req.on('error', cutOff);
    ctx.req.on('close', () => {
      if (!ctx.req.complete) cutOff();
    });
    parser.on('error', () => reject(importInvalid('its multipart body is broken.')));
    parser.on('partsLimit', () => reject(importInvalid('it has too many parts.')));
    parser.on('fieldsLimit', () => reject(importInvalid('it has too many parts.')));
    parser.on('filesLimit', () => reject(importInvalid('it has a second file.')));
    parser.on('field', (name, value, _nameTruncated, valueTruncated) => {
      if (!isOption(name)) return reject(unknownPart(name));
      if (fields[name] !== undefined) return reject(wrongField(name, 'is given twice'));
      if (fieldsFirst && taking) return reject(wrongField(name, 'must come before the file'));
      if (valueTruncated) return reject(wrongField(name, `must have at most ${limits.fieldSize} bytes`));
      fields[name] = value;
    });
    parser.on('file', (name, file, _fileName, _encoding, type) => {
      file.on('error', cutOff);
      if (name !== 'file') return reject(unknownPart(name));
      if (!csvTypes.includes(type)) return reject(importInvalid(`its part "file" is not CSV (text/csv).`));
      const label = charsetLabel();
      const charset = label === undefined ? undefined : charsetNamed(label);
      if (label !== undefined && !charset) return reject(unknownCharset(label));
      reading = file;
      taking = take({ bytes: buffersOf(file), charset }, fields);
      taking.catch(reject);
    });
    parser.on('finish', () => {
      if (taking) taking.then(resolve, reject);
      else reject(importInvalid('it has no part "file".'));
    });
    ctx.req.pipe(parser);
  }).catch(async (error: unknown) => {
    ctx.req.unpipe(parser);
    // The caller removes the stored rows once nothing stores any more of them.
    reading?.destroy(new Error('the upload was refused'));
    await taking?.catch(() => {});
    await readToEnd(ctx);
    throw error;
  });
  return { fields, taken };
}

const charsetParameter = /;\s*charset\s*=\s*"?([^\s;"]+)/i;

/**
 * Returns the charset in the Content-Type of the newest part. Busboy reports the type without its parameters, so the
 * headers are read from the parser that it uses.
 */
function watchCharset(busboy: EventEmitter): () => string | undefined {
  let label: string | undefined;
  const { parser } = (busboy as unknown as { _parser: { parser: EventEmitter } })._parser;
  parser.prependListener('part', (part: EventEmitter) => {
    part.on('header', (header: Record<string, string[]>) => {
      label = charsetParameter.exec(header['content-type']?.[0] ?? '')?.[1];
    });
  });
  return () => label;
}

const unknownCharset = (label: string): ServiceError =>
  importInvalid(`its part "file" is said to be of charset ${label.slice(0, 40)}, not one of ${charsets.join(', ')}.`);

function openParser(ctx: Context) {
  const type = ctx.get('Content-Type');
  try {
    return new Busboy({ headers: { ...ctx.req.headers, 'content-type': type }, limits });
  } catch {
    throw importInvalid('its multipart body has no boundary.');
  }
}

const isOption = (name: string): name is ImportOptionName => importOptionNames.some((option) => option === name);

const wrongField = (path: string, message: string): ServiceError =>
  new ServiceError('VALIDATION_FAILED', [{ path, message }]);

const unknownPart = (name: string): ServiceError =>
  name === 'file' ? importInvalid('its part "file" is text and not a file.') : wrongField(name, 'is not a known field');

/** The source stays open when the reader stops early. */
export async function* buffersOf(source: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of source.iterator({ destroyOnReturn: false })) yield chunk;
}
