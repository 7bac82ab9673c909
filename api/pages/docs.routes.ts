// Serves the site at /docs and /llms.txt (stack/buildDocs.ts builds them), and leads a browser from / to the console.
// All scripts and styles of the site come from this service; its Content-Security-Policy allows no other server and no
// inline script. These requests do not count against a rate limit.
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Router from '@koa/router';
import type { Context } from 'koa';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { type KeptAnswer, keptAnswer, sendKept } from '../http/keptAnswer.js';
import { basePath } from './layout.view.js';

const self = fileURLToPath(import.meta.url);
const folder = fileURLToPath(new URL(self.endsWith('.js') ? '../../docs' : '../../dist/docs', import.meta.url));

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
};

/** Every file of the site by its path. */
async function readSite({ config }: Pick<ApiDeps, 'config'>): Promise<Map<string, KeptAnswer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const site = new Map<string, KeptAnswer>();
  for (const entry of entries.filter((one) => one.isFile())) {
    const type = types[extname(entry.name)];
    if (!type) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    const filled = entry.name === 'llms.txt' ? bytes.toString().replaceAll('{base}', config.PUBLIC_URL) : bytes;
    const answer = keptAnswer({ bytes: Buffer.from(filled), type, cacheControl: 'no-cache' });
    site.set(path.slice(folder.length + 1), answer);
  }
  return site;
}

export function docsRoutes(deps: Pick<ApiDeps, 'config'>): Router {
  const router = new Router({ sensitive: true, strict: true });
  let reading: Promise<Map<string, KeptAnswer>> | undefined;

  /** Throws ROUTE_NOT_FOUND for a missing file. */
  async function send(ctx: Context, ...names: string[]): Promise<void> {
    reading ??= readSite(deps);
    const site = await reading.catch((error: NodeJS.ErrnoException) => {
      reading = undefined;
      if (error.code !== 'ENOENT') throw error;
      return new Map<string, KeptAnswer>();
    });
    const name = names.find((one) => site.has(one)) ?? '';
    const answer = site.get(name);
    if (!answer) throw new ServiceError('ROUTE_NOT_FOUND');
    if (name.endsWith('.html')) {
      ctx.set('Content-Security-Policy', policy);
      ctx.set('Referrer-Policy', 'no-referrer');
    }
    sendKept(ctx, answer);
  }

  router.get('/', (ctx, next) => {
    ctx.vary('Accept');
    // What takes anything is answered as a program.
    if (ctx.accepts('json', 'html') !== 'html') return next();
    ctx.redirect(`${basePath(deps)}/console`);
  });
  router.get('/llms.txt', (ctx) => send(ctx, 'llms.txt'));
  router.get('/docs', (ctx) => send(ctx, 'index.html'));
  // Links of the first page are relative to /docs.
  router.get(['/docs/', '/docs/index'], (ctx) => {
    ctx.status = 301;
    ctx.redirect('../docs');
  });
  router.get('/docs/:folder/:file', (ctx) => send(ctx, `${ctx.params.folder}/${ctx.params.file}`));
  router.get('/docs/:file', (ctx) => {
    const { file = '' } = ctx.params;
    return file.endsWith('.html') ? send(ctx) : send(ctx, file, `${file}.html`);
  });
  return router;
}
