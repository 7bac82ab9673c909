// Reads a body of at most 100 KB. The error code says what is wrong with a refused body: too large, an unsupported
// type, or malformed JSON.
import type { Context, Next } from 'koa';
import { koaBody } from 'koa-body';
import { ServiceError } from '../schemas/errors.js';

const jsonLimit = '100kb';

const parseJson = koaBody({
  json: true,
  urlencoded: false,
  text: false,
  multipart: false,
  jsonLimit,
  jsonStrict: true,
  parsedMethods: bodyMethods(),
  onError,
});
const parseForm = koaBody({
  json: false,
  urlencoded: true,
  text: false,
  multipart: false,
  formLimit: jsonLimit,
  parsedMethods: bodyMethods(),
  onError,
});

function bodyMethods() {
  return ['POST', 'PATCH', 'DELETE'] as NonNullable<Parameters<typeof koaBody>[0]>['parsedMethods'] & string[];
}

function onError(error: Error): never {
  if ('status' in error && error.status === 413) throw new ServiceError('BODY_TOO_LARGE');
  if ('status' in error && error.status === 415) throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');
  throw new ServiceError('MALFORMED_JSON');
}

const nothing: Next = async () => {};

const hasBody = (ctx: Context): boolean =>
  ctx.get('Transfer-Encoding') !== '' || (ctx.get('Content-Length') !== '' && ctx.get('Content-Length') !== '0');

/** Throws BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON. Returns undefined when there is no body. */
export async function readBody(ctx: Context, { form = false }: { form?: boolean }): Promise<unknown> {
  if (!hasBody(ctx)) return undefined;
  const encoding = ctx.get('Content-Encoding');
  if (encoding && encoding !== 'identity') throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');
  if (form && ctx.is('urlencoded')) {
    await parseForm(ctx, nothing);
    return ctx.request.body;
  }
  if (!ctx.is('json', '+json')) throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');
  await parseJson(ctx, nothing);
  return ctx.request.body;
}
