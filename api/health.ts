// Whether the process lives, and whether it can serve. Without Temporal or Redis it serves on, so it is degraded, not down.
import Router from '@koa/router';
import type { ApiDeps } from './apiDeps.js';

const pingMs = 1_000;

export function healthRoutes(deps: ApiDeps): Router {
  const router = new Router();

  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });

  router.get('/readyz', async (ctx) => {
    const mongodb = await deps.mongo
      .db()
      .command({ ping: 1 }, { timeoutMS: pingMs })
      .then(
        () => true,
        () => false,
      );
    const checks = { mongodb, temporal: deps.starter.available(), redis: deps.limits.healthy() };
    const degraded = !checks.temporal || !checks.redis;
    ctx.status = mongodb ? 200 : 503;
    ctx.body = { status: mongodb ? (degraded && 'degraded') || 'ok' : 'down', checks, wallets: deps.walletModes };
  });

  return router;
}
