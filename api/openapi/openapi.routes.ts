// Serves the OpenAPI document at /api/v1/openapi.json, the page at /docs that shows it, and the JSON Schema of program
// files. All scripts and styles of
// the page come from this service; its Content-Security-Policy allows no other server and no inline script. These
// requests do not count against a rate limit.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import Router from '@koa/router';
import type { Context } from 'koa';
import { programSchemaText } from '../../schemas/programs/programFile.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { apiPrefix } from '../../schemas/tables/endpoints.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { type KeptAnswer, keptAnswer, sendKept } from '../http/keptAnswer.js';
import { openApiDocument } from './document.view.js';

// Links are relative, so that they work behind a gateway that adds a path prefix.
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Loyalty Pass Service: the API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="docs"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

const start = `SwaggerUIBundle({ url: '.${apiPrefix}/openapi.json', dom_id: '#docs', deepLinking: true });
`;

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

const assets: Record<string, string> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};

/** Creates the bytes at the first request and keeps them. */
function kept(make: () => Promise<Buffer>): (ctx: Context, type: string) => Promise<void> {
  let made: Promise<KeptAnswer> | undefined;
  return async (ctx, type) => {
    made ??= make().then((bytes) => keptAnswer({ bytes, type, cacheControl: 'no-cache' }));
    sendKept(ctx, await made);
  };
}

const fromPackage = (file: string) => () => readFile(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${file}`)));

export function documentRoutes({ config }: Pick<ApiDeps, 'config'>): Router {
  const router = new Router({ sensitive: true, strict: true });
  const files = new Map(Object.keys(assets).map((file) => [file, kept(fromPackage(file))]));

  const document = kept(async () => Buffer.from(JSON.stringify(openApiDocument({ publicUrl: config.PUBLIC_URL }))));
  router.get(`${apiPrefix}/openapi.json`, (ctx) => document(ctx, 'application/json'));

  const programSchema = kept(async () => Buffer.from(programSchemaText()));
  router.get(`${apiPrefix}/program.schema.json`, (ctx) => programSchema(ctx, 'application/schema+json'));

  const shown = kept(async () => Buffer.from(page));
  router.get('/docs', (ctx) => {
    ctx.set('Content-Security-Policy', policy);
    ctx.set('Referrer-Policy', 'no-referrer');
    return shown(ctx, 'text/html; charset=utf-8');
  });
  router.get('/docs/', (ctx) => {
    ctx.status = 301;
    ctx.redirect('../docs');
  });

  const startScript = kept(async () => Buffer.from(start));
  router.get('/docs/start.js', (ctx) => startScript(ctx, 'text/javascript'));
  router.get('/docs/:file', (ctx) => {
    const file = ctx.params.file ?? '';
    const answer = files.get(file);
    if (!answer) throw new ServiceError('ROUTE_NOT_FOUND');
    return answer(ctx, assets[file] ?? '');
  });

  return router;
}
