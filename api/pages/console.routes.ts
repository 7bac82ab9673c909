// Serves the console's files (`npm run build` and `npm start` bundle them). Assets have a hash of their content in
// their names and may be kept; the page refers to them and is not cached. The Content-Security-Policy allows no inline
// script, no inline style without the nonce of this answer, and no other server.
import { randomBytes } from 'node:crypto';
import Router from '@koa/router';
import type { Context } from 'koa';
import type { ApiDeps } from '../http/apiDeps.js';
import { readBundled, sendAsset } from './bundle.reads.js';
import { basePath } from './layout.view.js';

function policy(nonce: string, desk: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    `connect-src 'self'${desk && ` ${desk}`}`,
    "font-src 'self'",
    "frame-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** By the name of this machine that the person has typed: the desk gets the cookie of the session by the same name. */
const deskFor = ({ hostname }: Context, origin: string): string =>
  hostname === 'localhost' ? origin.replace('//127.0.0.1:', '//localhost:') : origin;

export function consoleRoutes(deps: Pick<ApiDeps, 'config'>): Router {
  const router = new Router({ sensitive: true, strict: true });

  router.get('/console/assets/:file', sendAsset);

  const page = async (ctx: Context): Promise<void> => {
    const nonce = randomBytes(16).toString('base64');
    const { LIVE_DESK_URL } = deps.config;
    const desk = LIVE_DESK_URL === undefined ? '' : deskFor(ctx, new URL(LIVE_DESK_URL).origin);
    const text = (await readBundled('index.html')).toString('utf8');
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
