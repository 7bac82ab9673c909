// Input and output of a route. The guard has checked every request: it has the declared shape, and the caller has the
// declared permission.

import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { BodyOf, DataOf, Endpoint, QueryOf } from '../../schemas/access/endpoint.schema.js';
import type { ErrorCode } from '../../schemas/shared/errors.js';
import type { EndpointName, Endpoints } from '../../schemas/tables/endpoints.js';
import type { ApiDeps } from './apiDeps.js';
import type { Caller } from './caller.reads.js';

export interface Request<E extends Endpoint> {
  deps: ApiDeps;
  caller: Caller;
  params: Record<string, string>;
  query: QueryOf<E>;
  body: BodyOf<E>;
  ctx: Context;
}

export type Reply<E extends Endpoint> =
  /**
   * `partial` is the error code of the part that failed; the envelope then has `success: false` together with the data.
   */
  | { status?: E['statuses'][number]; data: DataOf<E>; partial?: ErrorCode }
  /** Bytes that are sent unchanged: a stored answer. */
  | { status: number; bytes: Buffer }
  /** A download: CSV unless the type says otherwise. */
  | { stream: Readable; fileName: string; type?: 'application/json' }
  /** A file that is made whole. */
  | { file: Buffer; fileName: string; type: string }
  /** A streamed envelope. */
  | { stream: Readable; fileName?: never; type: 'application/json' };

export type Route<N extends EndpointName> = (request: Request<Endpoints[N]>) => Promise<Reply<Endpoints[N]>>;

export type Routes<N extends EndpointName = EndpointName> = { [K in N]: Route<K> };
