// The files that `npm run build` and `npm start` bundle for browsers (stack/buildConsole.ts).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RouterContext } from '@koa/router';
import { ServiceError } from '../../schemas/shared/errors.js';

const self = fileURLToPath(import.meta.url);
const folder = fileURLToPath(new URL(self.endsWith('.js') ? '../../console' : '../../dist/console', import.meta.url));

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  png: 'image/png',
  wasm: 'application/wasm',
  woff2: 'font/woff2',
};

/** Throws ROUTE_NOT_FOUND for a missing file, for instance after a deployment that replaced it. */
export async function readBundled(...path: string[]): Promise<Buffer> {
  try {
    return await readFile(join(folder, ...path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw error;
    throw new ServiceError('ROUTE_NOT_FOUND');
  }
}

/** Throws ROUTE_NOT_FOUND. */
export async function sendAsset(ctx: RouterContext): Promise<void> {
  const { file = '' } = ctx.params;
  const type = types[/^[\w-]+(?:\.[\w-]+)*\.(\w+)$/.exec(file)?.[1] ?? ''];
  if (type === undefined) throw new ServiceError('ROUTE_NOT_FOUND');
  const zipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  ctx.body = await readBundled('assets', zipped ? `${file}.gz` : file);
  ctx.set('Content-Type', type);
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.vary('Accept-Encoding');
  if (zipped) ctx.set('Content-Encoding', 'gzip');
}
