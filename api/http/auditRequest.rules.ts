// The audit entry of a writing request, as its line in the endpoint table says.
import type { Context } from 'koa';
import type { PendingAudit } from '../../platform/mongodb/transaction.js';
import type { Endpoint } from '../../schemas/access/endpoint.schema.js';
import { newId } from '../../schemas/shared/ids.js';
import { networkOf } from '../../schemas/shared/ipAddress.rules.js';
import type { ApiDeps } from './apiDeps.js';
import type { Caller } from './caller.reads.js';

const fieldsOf = (body: unknown): string[] =>
  typeof body === 'object' && body !== null
    ? Object.entries(body).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    : [];

/** The dependencies that the handler of the request gets. */
export function withAudit(
  deps: ApiDeps,
  { endpoint: { audit }, caller, body, ctx }: { endpoint: Endpoint; caller: Caller; body: unknown; ctx: Context },
): ApiDeps {
  const { type, ...who } = caller.actor;
  if (!audit || 'not' in audit || (type !== 'user' && type !== 'api-key' && type !== 'reader')) return deps;
  const { action, writes, target, ofCaller } = audit;
  const targetId: string | undefined = ofCaller ? who.id : target && ctx.params[target];
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
