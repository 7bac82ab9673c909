// Answers that clients and caches may keep. Each has an ETag computed from its bytes, and a client that already has
// these bytes gets 304.
import type { Context } from 'koa';
import { sha256 } from '../../schemas/shared/ids.js';

export interface KeptAnswer {
  bytes: Buffer;
  /** A media type. */
  type: string;
  cacheControl: string;
  tag: string;
}

export const keptAnswer = (answer: Omit<KeptAnswer, 'tag'>): KeptAnswer => ({ ...answer, tag: sha256(answer.bytes) });

export function sendKept(ctx: Context, { bytes, type, cacheControl, tag }: KeptAnswer): void {
  ctx.status = 200;
  ctx.set('ETag', `"${tag}"`);
  ctx.set('Cache-Control', cacheControl);
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.type = type;
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = bytes;
}
