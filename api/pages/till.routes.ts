// Serves the till (docs/till.md): a page that is installed and starts without a line. WebAssembly is allowed here only,
// for the decoder of barcodes.
import Router from '@koa/router';
import type { ApiDeps } from '../http/apiDeps.js';
import { readBundled, sendAsset } from './bundle.reads.js';
import { basePath } from './layout.view.js';

const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const manifest = {
  id: '../till',
  name: 'Till',
  short_name: 'Till',
  start_url: '../till',
  scope: '../till',
  display: 'standalone',
  background_color: '#f1f4f1',
  theme_color: '#14532d',
  icons: [192, 512].map((side) => ({
    src: `assets/till-${side}.png`,
    sizes: `${side}x${side}`,
    type: 'image/png',
    purpose: 'any maskable',
  })),
};

export function tillPageRoutes(deps: Pick<ApiDeps, 'config'>): Router {
  const router = new Router({ sensitive: true, strict: true });
  const base = basePath(deps);

  router.get('/till/assets/:file', sendAsset);

  router.get('/till/manifest.webmanifest', (ctx) => {
    ctx.body = JSON.stringify(manifest);
    ctx.type = 'application/manifest+json';
    ctx.set('Cache-Control', 'no-cache');
  });

  router.get('/till/sw.js', async (ctx) => {
    ctx.body = await readBundled('serviceWorker.js');
    ctx.type = 'text/javascript; charset=utf-8';
    ctx.set('Content-Security-Policy', "default-src 'none'; connect-src 'self'");
    ctx.set('Service-Worker-Allowed', `${base}/till`);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cache-Control', 'no-cache');
  });

  router.get('/till', async (ctx) => {
    ctx.body = (await readBundled('till.html')).toString('utf8').replace('{base}', `${base}/till/`);
    ctx.type = 'text/html; charset=utf-8';
    ctx.set('Content-Security-Policy', policy);
    ctx.set('Permissions-Policy', 'camera=(self)');
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cache-Control', 'no-cache');
  });
  return router;
}
