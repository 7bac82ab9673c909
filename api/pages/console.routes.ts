// Serves the console's files (`npm run build` and `npm start` bundle them). Assets have a hash of their content in
// their names and may be kept; the page refers to them and is not cached. The Content-Security-Policy allows no inline
// script, no inline style without the nonce of this answer, and no other server.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Router from '@koa/router';
import type { Context } from 'koa';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { basePath } from './layout.view.js';

const self = fileURLToPath(import.meta.url);
const folder = fileURLToPath(new URL(self.endsWith('.js') ? '../../console' : '../../dist/console', import.meta.url));

const types: Record<string, string> = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

function policy(nonce: string, desk: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    `connect-src 'self'${desk && ` ${desk}`}`,
    "frame-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Throws ROUTE_NOT_FOUND for a missing file, for instance after a deployment that replaced it. */
async function read(...path: string[]): Promise<Buffer> {
  try {
    return await readFile(join(folder, ...path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw error;
    throw new ServiceError('ROUTE_NOT_FOUND');
  }
}

export function consoleRoutes(deps: Pick<ApiDeps, 'config'>): Router {
  const router = new Router({ sensitive: true, strict: true });

  router.get('/console/assets/:file', async (ctx) => {
    const { file = '' } = ctx.params;
    const type = /^[\w-]+(?:\.[\w-]+)*\.(js|css)$/.exec(file)?.[1];
    if (!type) throw new ServiceError('ROUTE_NOT_FOUND');
    const zipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    ctx.body = await read('assets', zipped ? `${file}.gz` : file);
    ctx.set('Content-Type', types[type] ?? '');
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.vary('Accept-Encoding');
    if (zipped) ctx.set('Content-Encoding', 'gzip');
  });

  const page = async (ctx: Context): Promise<void> => {
    const nonce = randomBytes(16).toString('base64');
    const { LIVE_DESK_URL } = deps.config;
    const desk = LIVE_DESK_URL === undefined ? '' : new URL(LIVE_DESK_URL).origin;
    const text = (await read('index.html')).toString('utf8');
    const filled = { base: `${basePath(deps)}/console/`, nonce, desk };
    ctx.body = text.replaceAll(/\{(base|nonce|desk)\}/g, (_, name: keyof typeof filled) => filled[name]);
    ctx.type = 'text/html; charset=utf-8';
    ctx.set('Content-Security-Policy', policy(nonce, desk));
    ctx.set('Referrer-Policy', 'same-origin');
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cache-Control', 'no-cache');
  };
  router.get('/console', page);
  // Every page of the console has a URL; the script decides what to show.
  router.get('/console/{*path}', page);
  return router;
}
