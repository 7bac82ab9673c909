// Reads a JSON object or a form of at most 100 KB (or the limit of the route). Only UTF-8 is accepted: text in another
// encoding would be stored with replacement characters. The error code says why a body was refused.
import { parse } from 'node:querystring';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { isAttribution } from '../../schemas/members/enrollment.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { readToEnd } from './readToEnd.js';

/** Of a body, unless the route takes more. */
export const maxBytes = 102_400;
const charsets: ReadonlySet<string> = new Set(['', 'utf-8', 'utf8', 'us-ascii']);

/** True also when the Content-Type names no charset. */
const declaresUtf8 = (ctx: Context): boolean => charsets.has(ctx.request.charset.toLowerCase());

/** Whether the body is, or may be, larger than most routes take. */
export const isLargeBody = (ctx: Context): boolean =>
  ctx.get('Transfer-Encoding') !== '' || Number(ctx.get('Content-Length')) > maxBytes;

const hasBody = (ctx: Context): boolean =>
  ctx.get('Transfer-Encoding') !== '' || (ctx.get('Content-Length') !== '' && ctx.get('Content-Length') !== '0');

/** Reads every type as text of one character a byte, because any other encoding would replace bytes that it lacks. */
const reader = (textLimit: number) =>
  koaBody({
    json: false,
    urlencoded: false,
    text: true,
    textTypes: ['json', '+json', 'urlencoded'],
    textLimit,
    encoding: 'binary',
    parsedMethods: ['POST', 'PATCH', 'DELETE'] as NonNullable<Parameters<typeof koaBody>[0]>['parsedMethods'] &
      string[],
    onError(error) {
      // Every other error is a broken connection, so no client reads this answer.
      throw new ServiceError('status' in error && error.status === 413 ? 'BODY_TOO_LARGE' : 'MALFORMED_JSON');
    },
  });

const readBytes = reader(maxBytes);

const invalid = (message: string): ServiceError => new ServiceError('VALIDATION_FAILED', [{ path: 'body', message }]);

/**
 * Returns undefined when there is no body. `form` also allows `application/x-www-form-urlencoded`, whose values are
 * texts, or lists of texts where a name is repeated. Throws BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON,
 * VALIDATION_FAILED.
 */
export async function readBody(
  ctx: Context,
  { form = false, maxBytes: most }: { form?: boolean; maxBytes?: number | undefined } = {},
): Promise<Record<string, unknown> | undefined> {
  if (!hasBody(ctx)) return undefined;
  const encoding = ctx.get('Content-Encoding');
  const isForm = form && Boolean(ctx.is('urlencoded'));
  const isKnown = isForm || Boolean(ctx.is('json', '+json'));
  if (!isKnown || (encoding && encoding !== 'identity') || !declaresUtf8(ctx)) {
    if (await isEmpty(ctx)) return undefined;
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');
  }
  const bytes = await bytesOf(ctx, most);
  if (bytes.length === 0) return undefined;
  return isForm ? formOf(bytes) : objectOf(bytes);
}

/** Only a body of unknown length is read: its end says that it is empty. */
async function isEmpty(ctx: Context): Promise<boolean> {
  if (ctx.get('Transfer-Encoding') === '') return false;
  let hasBytes = false;
  try {
    for await (const _ of ctx.req.iterator({ destroyOnReturn: false })) {
      hasBytes = true;
      break;
    }
  } catch {
    // The connection is broken, so no client reads the answer.
    return false;
  }
  if (hasBytes) await readToEnd(ctx);
  return !hasBytes;
}

async function bytesOf(ctx: Context, most: number | undefined): Promise<Buffer> {
  await (most === undefined ? readBytes : reader(most))(ctx, async () => {});
  return Buffer.from(String(ctx.request.body ?? ''), 'latin1');
}

/** Undefined when the bytes are not UTF-8. */
function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function objectOf(bytes: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(textOf(bytes) ?? '');
  } catch {
    throw new ServiceError('MALFORMED_JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('must be a JSON object');
  return value as Record<string, unknown>;
}

function formOf(bytes: Buffer): Record<string, unknown> {
  const fields = { ...parse(textOf(bytes) ?? '\uFFFD') };
  // The customer did not type the attribution, and it is dropped where it cannot be read.
  const typed = Object.entries(fields).filter(([name]) => !isAttribution(name));
  if (!isDecoded(Object.fromEntries(typed))) throw invalid('must be a form in UTF-8');
  return fields;
}

/** False when a name or value contains U+FFFD, the replacement for percent-encoded bytes that are not UTF-8. */
export const isDecoded = (fields: object): boolean => !Object.entries(fields).flat(2).join('').includes('\uFFFD');
