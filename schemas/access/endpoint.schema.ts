// The type of a line in the endpoint table. The route, the guard, the permission check, the rate limit and the OpenAPI
// operation are all derived from the same line, so that they cannot contradict each other.
import { z } from 'zod';
import type { ErrorCode } from '../shared/errors.js';
import type { CollectionName } from '../tables/collections.js';
import type { AuditAction } from './audit.schema.js';
import type { Permission } from './permissions.schema.js';

export type Audited =
  | {
      action: AuditAction;
      /**
       * The collections of the change. The audit is written in the transaction that writes to one of them; with none,
       * before a download begins.
       */
      writes: readonly CollectionName[];
      /** The path parameter that names the target; by default the target is the row that is written. */
      target?: string;
      /** Set when the target is the merchant. */
      ofMerchant?: true;
      /** Set when the target is the user who asks. */
      ofCaller?: true;
    }
  /** Why the endpoint needs no audit entry. */
  | { not: string };

/** Changes of balances: each has a row in the ledger of the member, with its actor. */
export const inLedger = { not: 'is in the ledger' } as const;

/** A file that the query may have in either type. */
type PictureTypes = readonly ['application/pdf', 'image/png'];

export interface Endpoint {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** Below the base URL; `:name` is a parameter. */
  path: string;
  tag:
    | 'API keys'
    | 'Roles'
    | 'Users'
    | 'Programs'
    | 'Members'
    | 'Points and rewards'
    | 'Timeline'
    | 'Till'
    | 'Webhooks'
    | 'Campaigns'
    | 'Batches'
    | 'Overview'
    | 'Public';
  summary: string;
  description?: string;
  /** The permission that a credential needs. `public` needs no credential, `session` any console session. */
  access: Permission | 'public' | 'session';
  /** A permission that also opens the endpoint. The handler then checks which of the two this request needs. */
  otherAccess?: Permission;
  /** Reads one batch: who started the batch needs no permission. */
  starterMay?: true;
  /** A permission that is needed as well. */
  alsoAccess?: Permission;
  /** The endpoint needs a console session; an API key is refused regardless of its roles. */
  session?: true;
  query?: z.ZodType;
  body?: z.ZodType;
  /** The body may be left out. */
  bodyOptional?: true;
  /** The body may be as large as PROGRAM_MAX_BYTES, because it may contain images. */
  largeBody?: true;
  /** The body may also come as an HTML form. */
  form?: true;
  /** The body is a file, which the handler reads itself. */
  upload?: 'csv';
  /** The file may also be the whole body, with the other fields in the query. */
  rawUpload?: true;
  /** A change at the till: a request that is refused is a tap that arrived. */
  tap?: true;
  /** The endpoint uses the Idempotency-Key header. */
  idempotent?: true;
  /** Headers of a success, in addition to those of every answer. */
  headers?: readonly 'X-Program-Id'[];
  /** The schema of `data` in a success; or the content types of an answer without an envelope. */
  result: z.ZodType | 'text/csv' | PictureTypes;
  statuses: readonly (200 | 201 | 202)[];
  /** The codes in addition to those of every endpoint of its kind. */
  errors: readonly ErrorCode[];
  /** The audit entry of a success; required on every endpoint that does not only read, and on downloads. */
  audit?: Audited;
  /** An example of a request body for the OpenAPI document. */
  example?: unknown;
}

/** The content types of an answer without an envelope; undefined for one with an envelope. */
export function fileTypesOf({ result }: Pick<Endpoint, 'result'>): readonly string[] | undefined {
  if (typeof result === 'string') return [result];
  return 'parse' in result ? undefined : result;
}

/** An integer in a query arrives as text; the OpenAPI document shows an integer. */
function queryInteger({ min, max, fallback }: { min: number; max: number; fallback: number }) {
  return z
    .string()
    .regex(/^-?\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .default(fallback)
    .meta({ shown: { type: 'integer', minimum: min, maximum: max, default: fallback } });
}

export const queryFlag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .meta({ shown: { type: 'boolean' } });

export const page = queryInteger({ min: 1, max: 999_999_999_999_999, fallback: 1 });
export const pageSize = queryInteger({ min: 1, max: 100, fallback: 25 });
export const paging = z.strictObject({ page, pageSize });
export const timelineLimit = queryInteger({ min: 1, max: 200, fallback: 50 });
export const feedLimit = queryInteger({ min: 1, max: 500, fallback: 100 });

export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), page: z.int(), pageSize: z.int(), total: z.int() });
}

type Given = Omit<Endpoint, 'method' | 'path' | 'statuses' | 'errors'> & Partial<Pick<Endpoint, 'statuses' | 'errors'>>;
type Line<G extends Given> = Omit<Endpoint, keyof G> & G;

/** A line of the table. Without `statuses` a success is 200; without `errors` only the common codes are answered. */
export function endpoint<const G extends Given>(method: 'get', path: string, given: G): Line<G>;
export function endpoint<const G extends Given & { audit: Audited }>(
  method: Exclude<Endpoint['method'], 'get'>,
  path: string,
  given: G,
): Line<G>;
export function endpoint<const G extends Given>(method: Endpoint['method'], path: string, given: G): Line<G> {
  return { method, path, statuses: [200], errors: [], ...given };
}

export type QueryOf<E extends Endpoint> = E extends { query: z.ZodType } ? z.output<E['query']> : Record<string, never>;
export type BodyOf<E extends Endpoint> = E extends { body: z.ZodType } ? z.output<E['body']> : undefined;
export type DataOf<E extends Endpoint> = E['result'] extends z.ZodType ? z.input<E['result']> : never;
