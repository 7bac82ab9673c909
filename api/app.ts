// The Koa application: all middleware and routes in the order in which they run. Request id, trace, log, conversion of
// errors into envelopes, routes outside the endpoint table, answers for unknown routes, endpoints.
import Router from '@koa/router';
import Koa, { type Context, type Next } from 'koa';
import { ServiceError } from '../schemas/shared/errors.js';
import { newToken } from '../schemas/shared/ids.js';
import { canonicalIp, ipKey } from '../schemas/shared/ipAddress.rules.js';
import { apiPrefix, type EndpointName, type Endpoints, endpoints } from '../schemas/tables/endpoints.js';
import { signInRoutes } from './access/signIn.routes.js';
import { healthRoutes } from './health.routes.js';
import { failure } from './http/answer.js';
import type { ApiDeps } from './http/apiDeps.js';
import { countCall, guarded } from './http/guard.js';
import { isUnmetExpectation } from './http/malformedRequests.js';
import type { Route } from './http/request.js';
import { logRequests } from './http/requestLog.js';
import { createStartInTurns } from './http/startInTurns.js';
import { documentRoutes } from './openapi/openapi.routes.js';
import { cardRoutes } from './pages/card.routes.js';
import { confirmRoutes } from './pages/confirm.routes.js';
import { consoleRoutes } from './pages/console.routes.js';
import { docsRoutes } from './pages/docs.routes.js';
import { enrollRoutes } from './pages/enroll.routes.js';
import { tillPageRoutes } from './pages/till.routes.js';
import { routes } from './routes.js';
import { appleRoutes } from './wallets/apple/apple.routes.js';
import { googleRoutes } from './wallets/google/google.routes.js';
import { pictureRoutes } from './wallets/pictures.routes.js';

/** All that runs later takes the caller's address from `ctx.ip`. */
async function clientAddress(ctx: Context, next: Next): Promise<void> {
  ctx.request.ip = canonicalIp(ctx.ip);
  await next();
}

async function requestId(ctx: Context, next: Next): Promise<void> {
  const given = ctx.get('X-Request-Id');
  const id = /^[A-Za-z0-9_-]{8,128}$/.test(given) ? given : newToken(12);
  ctx.state.requestId = id;
  ctx.set('X-Request-Id', id);
  await next();
}

/**
 * Records each request as a span. The span continues the caller's trace when the request has a `traceparent` header;
 * the event of a change stores the trace context for its effects.
 */
function tracing(deps: ApiDeps) {
  return async function traceRequest(ctx: Context, next: Next): Promise<void> {
    const method = methodOf(ctx);
    const parent = ctx.get('traceparent') || undefined;
    await deps.tracing.span(
      { name: method, kind: 'server', parent, attributes: { 'http.request.method': method } },
      async (ended) => {
        await next();
        const { requestId, merchantId } = ctx.state;
        const route = routeOf(ctx);
        ended({
          ...(route !== undefined && { name: `${method} ${route}` }),
          attributes: {
            ...(route !== undefined && { 'http.route': route }),
            'http.response.status_code': ctx.status,
            'loyalty.request.id': requestId,
            'loyalty.merchant.id': merchantId,
          },
          failed: ctx.status >= 500,
        });
      },
    );
  };
}

const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** An unknown method becomes `other`: text that a client chooses must not become the name of a metric or a span. */
const methodOf = ({ method }: Context): string => (knownMethods.has(method) ? method : 'other');
const routeOf = ({ _matchedRoute: route }: Context): string | undefined =>
  route === undefined ? undefined : String(route);

function logging(deps: ApiDeps) {
  return async function logRequest(ctx: Context, next: Next): Promise<void> {
    const startedAt = performance.now();
    await next();
    const ms = performance.now() - startedAt;
    const { method, status } = ctx;
    const route = routeOf(ctx) ?? 'none';
    deps.metrics.request({ method: methodOf(ctx), route, status, seconds: ms / 1_000 });
    const { requestId, merchantId, workflowId } = ctx.state;
    const line = { requestId, merchantId, workflowId, method, route, status, ms: Math.round(ms) };
    if (status >= 400) deps.log.info(line, 'request');
    else deps.log.debug(line, 'request');
  };
}

/** The statuses that pass by themselves, each with its wait in seconds for an error that names none. */
const waits: Record<number, number> = { 429: 30, 503: 5 };

function retryAfterOf(error: unknown, wait: number): string {
  const details: unknown = error instanceof ServiceError ? error.details : undefined;
  const seconds = typeof details === 'object' && details && 'retryAfterSeconds' in details && details.retryAfterSeconds;
  return String(seconds || wait);
}

function failures(deps: ApiDeps) {
  return async function answerFailure(ctx: Context, next: Next): Promise<void> {
    try {
      await next();
    } catch (error) {
      const { status, body } = failure(error, { acceptLanguage: ctx.get('Accept-Language'), now: deps.now() });
      ctx.state.errorCode = body.error.code;
      ctx.vary('Accept-Language');
      if (status >= 500)
        deps.log.error(
          { err: error, requestId: ctx.state.requestId, method: ctx.method, route: ctx._matchedRoute },
          'request failed',
        );
      const wait = waits[status];
      if (wait && !ctx.response.get('Retry-After')) ctx.set('Retry-After', retryAfterOf(error, wait));
      ctx.status = status;
      ctx.type = 'application/json';
      ctx.body = JSON.stringify(body);
      // The connection ends when the body was not read to its end: the rest would be parsed as the next request.
      if (!ctx.req.complete) ctx.set('Connection', 'close');
    }
  };
}

/**
 * Node would answer these two itself, without the envelope; `answerMalformedRequests` hands them to the application.
 * Throws MALFORMED_REQUEST, EXPECTATION_FAILED.
 */
async function requireHttp(ctx: Context, next: Next): Promise<void> {
  const { httpVersion, headersDistinct } = ctx.req;
  if (httpVersion !== '1.0' && headersDistinct.host?.length !== 1) throw new ServiceError('MALFORMED_REQUEST');
  if (isUnmetExpectation(ctx.req)) throw new ServiceError('EXPECTATION_FAILED');
  await next();
}

function apiRouter(deps: ApiDeps): Router {
  const router = new Router({ prefix: apiPrefix, sensitive: true, strict: true });
  const names = Object.keys(endpoints) as EndpointName[];
  // Paths with fewer parameters are registered first: members/tags has to match before members/:id does.
  names.sort((a, b) => endpoints[a].path.split(':').length - endpoints[b].path.split(':').length);
  for (const name of names) addRoute(router, deps, name);
  return router;
}

function addRoute<N extends EndpointName>(router: Router, deps: ApiDeps, name: N): void {
  const endpoint: Endpoints[N] = endpoints[name];
  const route: Route<N> = routes[name];
  router[endpoint.method](name, endpoint.path, guarded(deps, endpoint, route));
}

/**
 * Answers a request that no endpoint takes: 405 with `Allow` when the path exists with another method, otherwise 404.
 * Below the API prefix such a request counts against the public rate limit of its IP address, with or without a
 * credential. A literal path (members/tags) has only its own methods, not those of a path with a parameter
 * (members/:id).
 */
function noRoute(deps: ApiDeps, router: Router) {
  return async function answerNoRoute(ctx: Context, next: Next): Promise<void> {
    const layers = router.match(ctx.path, ctx.method).path;
    const fewest = Math.min(...layers.map((layer) => layer.paramNames.length));
    const meant = layers.filter((layer) => layer.paramNames.length === fewest);
    const methods = new Set(meant.flatMap((layer) => layer.methods));
    if (methods.has(ctx.method)) return next();
    if (ctx.path.startsWith(apiPrefix)) await countCall(deps, ctx, { kind: 'public', key: ipKey(ctx.ip) });
    if (methods.size === 0) throw new ServiceError('ROUTE_NOT_FOUND');
    ctx.set('Allow', [...methods].sort().join(', '));
    throw new ServiceError('METHOD_NOT_ALLOWED');
  };
}

export function createApp(deps: ApiDeps): Koa {
  const app = new Koa({ proxy: deps.config.TRUST_PROXY > 0, maxIpsCount: deps.config.TRUST_PROXY });
  const api = apiRouter(deps);
  app.use(createStartInTurns());
  app.use(clientAddress);
  app.use(requestId);
  app.use(tracing(deps));
  app.use(logging(deps));
  app.use(logRequests(deps));
  app.use(failures(deps));
  app.use(requireHttp);
  app.use(healthRoutes(deps).routes());
  app.use(documentRoutes(deps).routes());
  app.use(docsRoutes(deps).routes());
  app.use(appleRoutes(deps).routes());
  app.use(googleRoutes(deps).routes());
  app.use(pictureRoutes(deps).routes());
  app.use(cardRoutes(deps).routes());
  app.use(enrollRoutes(deps).routes());
  app.use(confirmRoutes(deps).routes());
  app.use(signInRoutes(deps).routes());
  app.use(consoleRoutes(deps).routes());
  app.use(tillPageRoutes(deps).routes());
  app.use(noRoute(deps, api));
  app.use(api.routes());
  app.on('error', (error: Error) => deps.log.warn({ err: error }, 'a connection failed'));
  return app;
}
