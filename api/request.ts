// What a route is given and what it answers. Everything in a request has passed the guard: it is of the declared shape and
// the caller holds the declared permission.

import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { BodyOf, DataOf, Endpoint, QueryOf } from '../schemas/endpoints/endpoint.js';
import type { EndpointName, Endpoints } from '../schemas/endpoints/index.js';
import type { ErrorCode } from '../schemas/errors.js';
import type { ApiDeps } from './apiDeps.js';
import type { Caller } from './caller.js';

export interface Request<E extends Endpoint> {
  deps: ApiDeps;
  caller: Caller;
  params: Record<string, string>;
  query: QueryOf<E>;
  body: BodyOf<E>;
  ctx: Context;
}

export type Reply<E extends Endpoint> =
  /** `partial` names what did not succeed of it: then the envelope says `success: false` beside the data. */
  | { status?: E['statuses'][number]; data: DataOf<E>; partial?: ErrorCode }
  /** Bytes as they are to be sent: a stored answer, replayed verbatim. */
  | { status: number; bytes: Buffer }
  | { stream: Readable; fileName: string };

export type Route<N extends EndpointName> = (request: Request<Endpoints[N]>) => Promise<Reply<Endpoints[N]>>;

export type Routes<N extends EndpointName = EndpointName> = { [K in N]: Route<K> };
