// Whether the process lives, and whether it can serve. Without Temporal or Redis it serves on, and a stuck outbox costs no
// answer, so it is degraded, not down.
import Router from '@koa/router';
import { isStuck, outboxState } from '../activities/outbox.js';
import { stubReason } from '../activities/wallets/doctor.js';
import type { ApiDeps } from './apiDeps.js';

export function healthRoutes(deps: ApiDeps): Router {
  const router = new Router();

  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });

  router.get('/readyz', async (ctx) => {
    const mongodb = await deps.mongo
      .db()
      .command({ ping: 1 })
      .then(
        () => true,
        () => false,
      );
    const outbox = mongodb ? await outboxState(deps).catch(() => null) : null;
    const checks = {
      mongodb,
      temporal: deps.starter.available(),
      redis: deps.limits.healthy(),
      outbox: outbox !== null && !isStuck(outbox),
    };
    const degraded = !checks.temporal || !checks.redis || !checks.outbox;
    ctx.status = mongodb ? 200 : 503;
    ctx.body = {
      status: mongodb ? (degraded && 'degraded') || 'ok' : 'down',
      checks,
      outbox,
      wallets: walletsOf(deps),
    };
  });

  return router;
}

function walletsOf(deps: ApiDeps) {
  const one = (platform: 'apple' | 'google') => {
    const reason = stubReason(deps, platform);
    return { mode: deps.walletModes[platform], ...(reason !== null && { reason }) };
  };
  return { apple: one('apple'), google: one('google') };
}
