// Serves the OpenAPI document at /api/v1/openapi.json and the JSON Schema of program files. These requests do not count
// against a rate limit.
import Router from '@koa/router';
import type { Context } from 'koa';
import { programSchemaText } from '../../schemas/programs/programFile.schema.js';
import { apiPrefix } from '../../schemas/tables/endpoints.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { type KeptAnswer, keptAnswer, sendKept } from '../http/keptAnswer.js';
import { openApiText } from './document.view.js';

/** Creates the bytes at the first request and keeps them. */
function kept(make: () => Promise<Buffer>): (ctx: Context, type: string) => Promise<void> {
  let made: Promise<KeptAnswer> | undefined;
  return async (ctx, type) => {
    made ??= make().then((bytes) => keptAnswer({ bytes, type, cacheControl: 'no-cache' }));
    sendKept(ctx, await made);
  };
}

export function documentRoutes({ config }: Pick<ApiDeps, 'config'>): Router {
  const router = new Router({ sensitive: true, strict: true });

  const document = kept(async () => Buffer.from(openApiText({ publicUrl: config.PUBLIC_URL })));
  router.get(`${apiPrefix}/openapi.json`, (ctx) => document(ctx, 'application/json'));

  const programSchema = kept(async () => Buffer.from(programSchemaText()));
  router.get(`${apiPrefix}/program.schema.json`, (ctx) => programSchema(ctx, 'application/schema+json'));

  return router;
}
