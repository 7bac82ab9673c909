// `/healthz`: the process is alive. `/readyz`: the process can serve. Ready means that MongoDB accepts writes to the
// collections that the service writes to, because MongoDB can answer pings while all writes to one collection hang.
// Without Temporal or Redis, or with a stuck outbox, the service still answers requests, so the status is `degraded`
// and not `down`.
import Router from '@koa/router';
import { isStuck, outboxState } from '../activities/outbox/outboxState.js';
import { unwritableCollections } from '../platform/mongodb/probeWrites.js';
import type { ApiDeps } from './apiDeps.js';
import { stubReason } from './passDoctor/examinePass.js';

/** Shorter than the 3 s within which callers get UNAVAILABLE, and than the timeouts of most load balancers. */
const probeWithinMs = 1_500;

/** The probe returns the names of the collections that accept no writes. Concurrent requests share one probe. */
function createProbe({ mongo, config }: ApiDeps): () => Promise<string[]> {
  let asking: Promise<string[]> | undefined;
  return () => {
    asking ??= unwritableCollections(mongo.db(config.MONGODB_DATABASE), probeWithinMs).finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

export function healthRoutes(deps: ApiDeps): Router {
  const router = new Router();
  const probe = createProbe(deps);

  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });

  router.get('/readyz', async (ctx) => {
    const unwritable = await probe();
    const mongodb = unwritable.length === 0;
    const outbox = mongodb ? await outboxState(deps).catch(() => null) : null;
    const checks = {
      mongodb,
      temporal: deps.workflowClient.available(),
      redis: deps.limits.healthy(),
      outbox: outbox !== null && !isStuck(outbox),
    };
    const degraded = !checks.temporal || !checks.redis || !checks.outbox;
    ctx.status = mongodb ? 200 : 503;
    ctx.body = {
      status: mongodb ? (degraded && 'degraded') || 'ok' : 'down',
      checks,
      unwritable,
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
