// Turns a line of the endpoint table into a route: authentication, rate limit, permission, validation, handler, answer.
// The order matters: a caller without the permission learns nothing about a resource, and every answer to a counted
// caller has the rate limit headers.
import type { Context } from 'koa';
import { z } from 'zod';
import { requestLimits, suspensions } from '../../activities/access/merchants.reads.js';
import { hasStarted } from '../../activities/batches/cancelBatch.writes.js';
import { noteRefusal } from '../../activities/till/taps.writes.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { PendingAudit } from '../../platform/mongodb/transaction.js';
import type { Endpoint } from '../../schemas/access/endpoint.schema.js';
import { type ErrorCode, ServiceError } from '../../schemas/shared/errors.js';
import { lowerUuid, newId } from '../../schemas/shared/ids.js';
import { ipKey, networkOf } from '../../schemas/shared/ipAddress.rules.js';
import { maskPersonal, withoutCardLinks } from '../../schemas/shared/masking.rules.js';
import { mistakesOf } from '../../schemas/shared/mistakes.rules.js';
import type { EndpointName, Endpoints } from '../../schemas/tables/endpoints.js';
import { partialSuccess, success } from './answer.js';
import type { ApiDeps } from './apiDeps.js';
import { allowLongBody } from './bodyTimeouts.js';
import { authenticate, type Caller, credentialOf, requireHeld, requireOwnPage } from './caller.reads.js';
import { inTurn } from './largeRequests.js';
import type { LimitKind, RequestCount } from './limits.js';
import { isDecoded, readBody } from './readBody.js';
import type { Reply, Request, Route } from './request.js';
import { askedOf, noteAsked, noteCaller } from './requestLog.js';

interface Counting {
  kind: LimitKind;
  key: string;
  most?: number | undefined;
}

/** Counts the call and sets the rate limit headers of docs/interface.md#82-rate-limits. Throws RATE_LIMITED. */
export async function countCall(deps: ApiDeps, ctx: Context, { kind, key, most }: Counting): Promise<void> {
  setRateLimitHeaders(deps, ctx, await deps.limits.count(kind, key, most));
}

/**
 * Counts the call against a second limit. The headers show the caller's own limit unless the second limit is exceeded.
 * Throws RATE_LIMITED.
 */
export async function countAlso(deps: ApiDeps, ctx: Context, { kind, key }: Counting): Promise<void> {
  const counted = await deps.limits.count(kind, key);
  if (counted.exceeded) setRateLimitHeaders(deps, ctx, counted);
}

/**
 * Counts a call to a route whose answers have no envelope. Sets the status to 429 and returns false when there were too
 * many.
 */
export async function withinRateLimit(deps: ApiDeps, ctx: Context, { kind, key }: Counting): Promise<boolean> {
  const { exceeded, resetSeconds } = await deps.limits.count(kind, key);
  if (!exceeded) return true;
  ctx.status = 429;
  ctx.set('Retry-After', String(resetSeconds));
  return false;
}

const stranger = (ctx: Context): Counting => ({ kind: 'walletCalls', key: `address:${ipKey(ctx.ip)}` });

/**
 * For calls that show no token of a pass. Calls that show one are counted by it, because many phones share an address.
 */
export const withinStrangersLimit = (deps: ApiDeps, ctx: Context): Promise<boolean> =>
  withinRateLimit(deps, ctx, stranger(ctx));

/** The same for a route whose answers have an envelope. Throws RATE_LIMITED. */
export const countStranger = (deps: ApiDeps, ctx: Context): Promise<void> => countAlso(deps, ctx, stranger(ctx));

function setRateLimitHeaders(deps: ApiDeps, ctx: Context, counted: RequestCount): void {
  ctx.set('RateLimit-Limit', String(counted.limit));
  ctx.set('RateLimit-Remaining', String(counted.remaining));
  ctx.set('RateLimit-Reset', String(counted.resetSeconds));
  ctx.set('RateLimit-Policy', `${counted.limit};w=${Math.round(deps.config.RATE_LIMIT_WINDOW_MS / 1000)}`);
  if (!counted.exceeded) return;
  ctx.set('Retry-After', String(counted.resetSeconds));
  throw new ServiceError('RATE_LIMITED');
}

export const publicCaller: Caller = {
  id: 'public',
  merchantId: '',
  permissions: new Set(),
  credential: 'api-key',
  actor: { type: 'public', id: 'public' },
};

async function authorize(deps: ApiDeps, ctx: Context, endpoint: Endpoint): Promise<Caller> {
  if (endpoint.access === 'public') {
    await countCall(deps, ctx, { kind: 'public', key: ipKey(ctx.ip) });
    return publicCaller;
  }
  const caller = await authenticate(deps, credentialOf(ctx), ctx.ip).catch(async (error: unknown) => {
    // A credential that could not be checked is no failed sign-in.
    if (error instanceof ServiceError && error.status < 500)
      await countCall(deps, ctx, { kind: 'failed', key: ipKey(ctx.ip) });
    throw error;
  });
  noteCaller(ctx, caller);
  const most = (await requestLimits(deps)).get(caller.merchantId);
  await countCall(deps, ctx, { kind: 'authenticated', key: caller.id, most });
  if ((await suspensions(deps)).has(caller.merchantId)) throw new ServiceError('MERCHANT_SUSPENDED');
  if (caller.credential === 'cookie' && endpoint.method !== 'get') requireOwnPage(ctx, deps.config.PUBLIC_URL);
  if (endpoint.session && !caller.session) throw new ServiceError('CONSOLE_SESSION_REQUIRED');
  const { access, otherAccess, alsoAccess, starterMay } = endpoint;
  if (access === 'session') return caller;
  if (starterMay && !caller.permissions.has(access)) {
    const batchId = lowerUuid(ctx.params.id ?? '');
    if (await hasStarted(deps, { ...caller, batchId })) return caller;
  }
  const needed = otherAccess && caller.permissions.has(otherAccess) ? otherAccess : access;
  requireHeld(caller, alsoAccess ? [needed, alsoAccess] : [needed]);
  return caller;
}

function validate(schema: z.ZodType, value: unknown, part: 'body' | 'query'): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const noun = part === 'query' ? 'query parameter' : 'field';
  const mistakes = mistakesOf(schema, parsed.error, noun).map(({ path, message }) => ({ path: path || part, message }));
  throw new ServiceError('VALIDATION_FAILED', mistakes);
}

const noQuery = z.strictObject({});

/** Throws VALIDATION_FAILED when percent-encoded bytes of the query are not UTF-8. */
function queryOf(ctx: Context): Context['query'] {
  if (isDecoded(ctx.query)) return { ...ctx.query };
  throw new ServiceError('VALIDATION_FAILED', [{ path: 'query', message: 'must be UTF-8' }]);
}

async function validated(
  { config }: Pick<ApiDeps, 'config'>,
  ctx: Context,
  endpoint: Endpoint,
): Promise<{ query: unknown; body: unknown }> {
  // What the address of a public form carries, such as click ids, is not the customer's and is ignored.
  noteAsked(ctx, { query: ctx.query });
  const query = endpoint.form ? {} : validate(endpoint.query ?? noQuery, queryOf(ctx), 'query');
  if (endpoint.upload || endpoint.method === 'get') return { query, body: undefined };
  const maxBytes = endpoint.largeBody && config.PROGRAM_MAX_BYTES;
  const body = await readBody(ctx, { form: endpoint.form === true, maxBytes });
  noteAsked(ctx, { body });
  if (!endpoint.body) return { query, body: undefined };
  return { query, body: validate(endpoint.body, body, 'body') };
}

/**
 * Masks personal data of members for a caller that may not read members, and leaves out links to cards that show it,
 * but for the member that this call creates. Answers to public callers, to tills, about the caller's own session, and
 * about users are not masked.
 */
function masked<R extends Reply<Endpoint>>(reply: R, { access }: Endpoint, { permissions }: Caller): R {
  const isOwn = access === 'public' || access === 'session' || access === 'till:use' || access.startsWith('users:');
  if (!('data' in reply) || isOwn || permissions.has('merchants.members:view')) return reply;
  const isNew = reply.status === 201;
  return { ...reply, data: maskPersonal(isNew ? reply.data : withoutCardLinks(reply.data)) };
}

const bodyOf = ({ data, partial }: { data: unknown; partial?: ErrorCode }): Buffer =>
  partial ? partialSuccess(data, partial) : success(data);

function present(ctx: Context, endpoint: Endpoint, reply: Reply<Endpoint>): void {
  if ('stream' in reply) {
    if (reply.fileName !== undefined) ctx.attachment(reply.fileName);
    ctx.type = reply.type ?? 'text/csv; charset=utf-8';
    ctx.body = reply.stream;
    return;
  }
  if ('file' in reply) {
    ctx.attachment(reply.fileName);
    ctx.type = reply.type;
    ctx.body = reply.file;
    return;
  }
  ctx.status = reply.status ?? endpoint.statuses[0] ?? 200;
  ctx.type = 'application/json';
  ctx.body = 'bytes' in reply ? reply.bytes : bodyOf(reply);
}

const lowerUuids = (params: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, lowerUuid(value)]));

/** The cast to the route's types is safe: the guard validated the request against the same line of the table. */
export function guarded<N extends EndpointName>(deps: ApiDeps, endpoint: Endpoints[N], route: Route<N>) {
  return async function guardedRoute(ctx: Context): Promise<void> {
    const caller = await authorize(deps, ctx, endpoint);
    ctx.params = lowerUuids(ctx.params);
    if (endpoint.upload || endpoint.largeBody) allowLongBody(ctx.req);
    const answer = async () => {
      const { query, body } = await validated(deps, ctx, endpoint);
      const audited = withAudit(deps, { endpoint, caller, body, ctx });
      const request = { deps: audited, caller, params: ctx.params, query, body, ctx } as Request<Endpoints[N]>;
      const reply = (await route(request)) as Reply<Endpoint>;
      if ('stream' in reply && reply.fileName !== undefined) await transact(audited, [], 0);
      present(ctx, endpoint, masked(reply, endpoint, caller));
    };
    try {
      if (endpoint.largeBody) await inTurn(deps, { ctx, merchantId: caller.merchantId }, answer);
      else await answer();
    } catch (error) {
      if (endpoint.tap) await noteRefusal(deps, { reader: caller.reader, body: askedOf(ctx).body, error });
      throw error;
    }
  };
}

const fieldsOf = (body: unknown): string[] =>
  typeof body === 'object' && body !== null
    ? Object.entries(body).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    : [];

/** The dependencies that the handler of the request gets. */
function withAudit(
  deps: ApiDeps,
  { endpoint: { audit }, caller, body, ctx }: { endpoint: Endpoint; caller: Caller; body: unknown; ctx: Context },
): ApiDeps {
  const { type, ...who } = caller.actor;
  if (!audit || 'not' in audit || (type !== 'user' && type !== 'api-key' && type !== 'reader')) return deps;
  const { action, writes, target, ofCaller, ofMerchant } = audit;
  const own = (ofCaller && who.id) || (ofMerchant && caller.merchantId);
  const targetId: string | undefined = own || (target && ctx.params[target]);
  const fields = fieldsOf(body);
  const pending: PendingAudit = {
    row: {
      _id: newId(),
      merchantId: caller.merchantId,
      createdAt: deps.now(),
      actor: { type, ...who },
      action,
      ...(targetId !== undefined && { targetId }),
      ...(fields.length > 0 && { fields }),
      address: networkOf(ctx.ip),
      requestId: String(ctx.state.requestId),
    },
    writes,
  };
  return { ...deps, audit: [pending] };
}
