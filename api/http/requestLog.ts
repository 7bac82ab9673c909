// The log of requests (docs/interface.md#412-requests): what of a request and its answer is kept. Writes and refusals of
// an identified caller always are; successful reads and 429 only up to a rate, and reads of the console and of the log
// itself not at all.
import type { Context, Next } from 'koa';
import type { NewRequest } from '../../activities/stats/requests.writes.js';
import { isUuid, lowerUuid } from '../../schemas/shared/ids.js';
import { hidden, maskRequest } from '../../schemas/shared/masking.rules.js';
import { requestsPath } from '../../schemas/stats/requests.routes.js';
import { apiPrefix } from '../../schemas/tables/endpoints.js';
import { createTokenBucket } from './admission.js';
import type { ApiDeps } from './apiDeps.js';
import type { Caller } from './caller.reads.js';

interface Asked {
  query?: object;
  body?: object | undefined;
}

type Followed = Pick<NewRequest, 'memberId' | 'transactionId' | 'eventId'>;

interface Noted {
  caller?: Caller;
  asked?: Asked;
  followed?: Followed;
}

const notedOf = (ctx: Context): Noted => {
  ctx.state.noted ??= {};
  return ctx.state.noted;
};

export function noteCaller(ctx: Context, caller: Caller): void {
  ctx.state.merchantId = caller.merchantId;
  notedOf(ctx).caller = caller;
}

/** As it was sent, also when it is not valid. */
export function noteAsked(ctx: Context, asked: Asked): void {
  const noted = notedOf(ctx);
  noted.asked = { ...noted.asked, ...asked };
}

export const askedOf = (ctx: Context): Asked => notedOf(ctx).asked ?? {};

/** What a request changed. What follows from it is found by these ids when the request is looked up. */
export function noteFollowed(ctx: Context, followed: Followed): void {
  const noted = notedOf(ctx);
  noted.followed = { ...noted.followed, ...followed };
}

const othersPerSecond = 20;

export function logRequests(deps: ApiDeps) {
  const takeToken = createTokenBucket(othersPerSecond);
  function isKept(ctx: Context, { session }: Caller): boolean {
    const { method, status } = ctx;
    if (status === 429) return takeToken(true);
    return method !== 'GET' || status >= 400 || (!session && !isOfLog(ctx) && takeToken(true));
  }
  return async function logRequest(ctx: Context, next: Next): Promise<void> {
    const startedAt = performance.now();
    await next();
    const noted = notedOf(ctx);
    const { caller } = noted;
    if (!caller || !isKept(ctx, caller)) return;
    const ms = Math.round(performance.now() - startedAt);
    deps.requestLog.note({ ...rowOf(ctx, { ...noted, caller }), createdAt: deps.now(), ms });
  };
}

const routeOf = ({ _matchedRoute: route }: Context): string => String(route).slice(apiPrefix.length);

const isOfLog = (ctx: Context): boolean => routeOf(ctx).startsWith(requestsPath);

function rowOf(
  ctx: Context,
  { caller, asked = {}, followed = {} }: Noted & { caller: Caller },
): Omit<NewRequest, 'createdAt' | 'ms'> {
  const { method, status, params } = ctx;
  const { requestId, workflowId, errorCode } = ctx.state;
  const route = routeOf(ctx);
  const named = maskRequest(params).shown as Record<string, string>;
  // Whoever takes a member's phone or code for its id is refused, and what he sent is not kept.
  const isOfMember = route.startsWith('/merchants/me/members/:id');
  if (isOfMember && !isUuid(lowerUuid(params.id))) named.id = hidden;
  const query = maskRequest(asked.query ?? {});
  const body = asked.body && maskRequest(asked.body);
  const idempotencyKey = ctx.response.get('Idempotency-Key');
  const memberId = lowerUuid(params.id ?? '');
  return {
    merchantId: caller.merchantId,
    requestId: lowerUuid(requestId),
    method,
    path: route.replaceAll(/:(\w+)/g, (_, name: string) => named[name] ?? ''),
    ...(Object.keys(asked.query ?? {}).length > 0 && { query: query.shown }),
    ...(body && { body: body.shown }),
    ...((query.isCut || body?.isCut) && { isCut: true as const }),
    ...(idempotencyKey && { idempotencyKey }),
    ...(ctx.response.get('Idempotent-Replayed') && { isReplayed: true as const }),
    actor: caller.actor,
    status,
    ...(errorCode && { errorCode }),
    ...(isOfMember && isUuid(memberId) && { memberId }),
    // Whether a change that failed on the way was made is seen by its ledger entry.
    ...(status >= 500 && workflowId && { transactionId: workflowId }),
    ...followed,
  };
}
