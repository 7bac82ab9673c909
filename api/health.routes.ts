// `/healthz`: the process is alive. `/readyz`: the process can serve. Ready means that MongoDB accepts writes to the
// collections that the service writes to, because MongoDB can answer pings while all writes to one collection hang.
// Without Temporal or Redis, or with a stuck outbox, the service still answers requests, so the status is `degraded`
// and not `down`. Operators get the reasons and the state of this moment; strangers get the status alone, at most one
// second old, so that their requests cost nothing (docs/decisions/one-table-of-endpoints.md).
import Router from '@koa/router';
import type { Context } from 'koa';
import { isStuck, outboxState } from '../activities/events/outboxState.reads.js';
import { unwritableCollections } from '../platform/mongodb/probeWrites.js';
import { canonicalIp } from '../schemas/shared/ipAddress.rules.js';
import type { ApiDeps } from './http/apiDeps.js';
import { stubReason } from './wallets/doctor/examinePass.reads.js';

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

  async function look() {
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
    const status = mongodb ? (degraded && 'degraded') || 'ok' : 'down';
    return { status, checks, unwritable, outbox, wallets: walletsOf(deps) };
  }

  router.get('/readyz', async (ctx) => {
    const state = isOperator(ctx) ? await look() : await deps.cached('readyz', look);
    ctx.set('Cache-Control', 'no-store');
    ctx.status = !state || state.status === 'down' ? 503 : 200;
    ctx.body = isOperator(ctx) ? state : { status: state?.status };
  });

  return router;
}

/** True when the request comes from this machine and no proxy header says that it was forwarded. */
function isOperator(ctx: Context): boolean {
  const address = canonicalIp(ctx.req.socket.remoteAddress ?? '');
  const isLocal = address.startsWith('127.') || address === '::1';
  return isLocal && !['X-Forwarded-For', 'Forwarded', 'Via'].some((name) => ctx.get(name) !== '');
}

function walletsOf(deps: ApiDeps) {
  const one = (platform: 'apple' | 'google') => {
    const reason = stubReason(deps, platform);
    return { mode: deps.walletModes[platform], ...(reason !== null && { reason }) };
  };
  return { apple: one('apple'), google: one('google') };
}
