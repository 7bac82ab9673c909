// The failures of an endpoint by status: the codes that every endpoint of its kind can answer, and its own codes from
// the table.
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { Endpoint } from '../../schemas/access/endpoint.schema.js';
import { permission } from '../../schemas/access/roles.schema.js';
import { importFields } from '../../schemas/batches/columnTitles.rules.js';
import { columnDetails } from '../../schemas/batches/importColumns.rules.js';
import { type ErrorCode, errorTable } from '../../schemas/shared/errors.js';
import { candidate } from '../../schemas/till/till.schema.js';
import { countedHeaders, headersOf } from './headers.view.js';

const problems = z.array(z.object({ path: z.string(), message: z.string() }));

/** The schema of `error.details`; codes that are not listed have no details. */
const details: Partial<Record<ErrorCode, { schema: z.ZodType; example?: unknown }>> = {
  VALIDATION_FAILED: { schema: problems, example: [{ path: 'page', message: 'must be a whole number' }] },
  WEBHOOK_URL_FORBIDDEN: { schema: problems, example: [{ path: 'url', message: 'must be https' }] },
  IMPORT_INVALID: {
    schema: columnDetails.describe('when columns are unknown'),
    example: { unknownColumns: [{ column: 2, header: 'E-Mail', nearest: 'email' }], columns: [...importFields] },
  },
  CARD_NOT_FULL: {
    schema: z.object({ goal: z.int(), current: z.int(), missing: z.int() }),
    example: { goal: 10, current: 7, missing: 3 },
  },
  CARD_FULL: {
    schema: z.object({ room: z.int() }),
    example: { room: 2 },
  },
  BALANCE_TOO_LOW: {
    schema: z.object({ current: z.int(), needed: z.int(), missing: z.int().optional().describe('for a reward') }),
    example: { current: 10, needed: 50 },
  },
  POSTER_LETTERS_MISSING: {
    schema: z.object({ letters: z.array(z.string()) }),
    example: { letters: ['北', '京'] },
  },
  CODE_AMBIGUOUS: {
    schema: z.object({ candidates: z.array(candidate) }),
    example: {
      candidates: [
        { memberCode: '7H2K9M4QXT', firstName: 'Ada', lastInitial: 'L', programId: 'demo-stamps' },
        { memberCode: 'K3PX8V01RD', firstName: 'Bo', lastInitial: null, programId: 'demo-points' },
      ],
    },
  },
  CURRENCY_MISMATCH: {
    schema: z.object({ currency: z.string().describe("the program's") }),
    example: { currency: 'EUR' },
  },
  EARN_LIMIT_REACHED: {
    schema: z.object({
      limit: z.enum(['daily', 'cooldown']),
      retryAt: z.iso.datetime(),
    }),
    example: { limit: 'daily', retryAt: '2026-03-02T00:00:00.000Z' },
  },
  TAG_LIMIT_EXCEEDED: {
    schema: z.object({ limit: z.string(), max: z.int() }).describe('of the different tags of a merchant'),
  },
  VERSION_CONFLICT: {
    schema: z.object({ version: z.int().describe('of the newest edit') }),
    example: { version: 4 },
  },
  PERMISSION_DENIED: {
    schema: z.object({ missing: z.array(permission) }),
    example: { missing: ['merchants.members:edit'] },
  },
  RATE_LIMITED: {
    schema: z
      .object({ limit: z.string(), max: z.int(), retryAfterSeconds: z.int() })
      .describe('of a limit by merchant'),
  },
  UNAVAILABLE: { schema: z.object({ batchId: z.string().describe('of an import that was not answered in time') }) },
};

const anybodys: ErrorCode[] = ['VALIDATION_FAILED', 'RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE'];
const authenticated: ErrorCode[] = [
  'AUTHENTICATION_REQUIRED',
  'INVALID_API_KEY',
  'INVALID_TOKEN',
  'PERMISSION_DENIED',
  'NETWORK_NOT_ALLOWED',
  'MERCHANT_SUSPENDED',
];
const withBody: ErrorCode[] = ['MALFORMED_JSON', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
/** The options of an upload may stand in the address, which counts as a header. */
const ofUploads: ErrorCode[] = ['UNSUPPORTED_MEDIA_TYPE', 'HEADERS_TOO_LARGE'];
const keyed: ErrorCode[] = ['IDEMPOTENCY_KEY_MALFORMED', 'IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_KEY_IN_USE'];
/** Codes of only some of the endpoints that have the status; the description of the status says of which. */
const conditions: Partial<Record<ErrorCode, string>> = {
  MALFORMED_JSON: 'of a request with a body',
  CSRF_REJECTED: 'of a request that writes',
  CONSOLE_SESSION_REQUIRED: 'where a console session is needed',
};
const usual = new Set<ErrorCode>([
  ...anybodys,
  ...authenticated,
  ...withBody,
  ...ofUploads,
  ...(Object.keys(conditions) as ErrorCode[]),
]);

/** Every code that the endpoint can answer, in the order of the error table. */
export function codesOf(endpoint: Endpoint): ErrorCode[] {
  const writes = endpoint.method !== 'get';
  const secured = endpoint.access !== 'public';
  const codes = new Set<ErrorCode>([
    ...anybodys,
    ...(secured ? authenticated : []),
    ...(secured && writes ? (['CSRF_REJECTED'] as const) : []),
    ...(endpoint.session ? (['CONSOLE_SESSION_REQUIRED'] as const) : []),
    ...(writes && !endpoint.upload ? withBody : []),
    ...(endpoint.upload ? ofUploads : []),
    ...(endpoint.idempotent ? keyed : []),
    ...endpoint.errors,
  ]);
  return (Object.keys(errorTable) as ErrorCode[]).filter((code) => codes.has(code));
}

const shownCodes = (codes: readonly ErrorCode[]): string => codes.map((code) => `\`${code}\``).join(', ');

/** Each shape of details says which codes have it. */
function detailsShape(): z.ZodType {
  const codesOfShape = new Map<z.ZodType, ErrorCode[]>();
  for (const [code, { schema }] of Object.entries(details) as [ErrorCode, { schema: z.ZodType }][])
    codesOfShape.set(schema, [...(codesOfShape.get(schema) ?? []), code]);
  return z.union(
    [...codesOfShape].map(([schema, codes]) =>
      schema.describe([`of ${shownCodes(codes)}`, schema.description].filter(Boolean).join(', ')),
    ),
  );
}

const errorCode = z.enum(Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]);

const error = z.object({
  code: errorCode,
  message: z.string().describe('For developers; branch on the code.'),
  display: z.string().optional().describe('For a cashier, in a language of Accept-Language.'),
  details: detailsShape().optional(),
});

/** The schemas of every failure. */
export const namedFailures = {
  ErrorCode: errorCode,
  Error: error,
  Failure: z.object({ success: z.literal(false), error }),
};

export function errorExample(code: ErrorCode) {
  const example = details[code]?.example;
  return { code, message: errorTable[code].message, ...(example !== undefined && { details: example }) };
}

const pascal = (text: string): string =>
  text.toLowerCase().replace(/(?:^|[_ ])(\w)/g, (_, letter: string) => letter.toUpperCase());

/** By status, every code that `endpoints` can answer with it, in the order of the error table. */
function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const all = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = errorTable[code];
    if (status >= 400) all.set(status, [...(all.get(status) ?? []), code]);
  }
  return all;
}

export type Responses = Record<string, unknown>;

/** `codes` are those that the description names. */
function failureResponse(status: number, all: ErrorCode[], codes: ErrorCode[]) {
  const counted = status === 429 ? countedHeaders : [];
  const waits = status === 429 || status === 503 ? (['Retry-After'] as const) : [];
  const always = codes.filter((code) => !conditions[code]);
  const sometimes = codes.flatMap((code) => (conditions[code] ? [`\`${code}\` ${conditions[code]}`] : []));
  return {
    description: [shownCodes(always), ...sometimes].join('; '),
    headers: headersOf(['X-Request-Id', ...counted, ...waits]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Failure' },
        examples: Object.fromEntries(
          all.map((code) => [code, { value: { success: false, error: errorExample(code) } }]),
        ),
      },
    },
  };
}

export interface Failures {
  components: Responses;
  of: (endpoint: Endpoint) => Responses;
}

/**
 * One answer for each status, which operations refer to. It names the usual codes of the status, or all of them where
 * none is usual; an operation that has others names all of its own.
 */
export function failuresOf(endpoints: readonly Endpoint[]): Failures {
  const used = new Set(endpoints.flatMap(codesOf));
  const all = byStatus((Object.keys(errorTable) as ErrorCode[]).filter((code) => used.has(code)));
  const answers = new Map(
    [...all].map(([status, codes]) => {
      const [code = '', ...others] = codes;
      const known = codes.filter((each) => usual.has(each));
      return [
        status,
        {
          name: pascal(others.length > 0 ? (STATUS_CODES[status] ?? '') : code),
          named: known.length > 0 ? known : codes,
          isNamed: (own: ErrorCode[]) =>
            known.length > 0 ? own.every((each) => usual.has(each)) : own.length === codes.length,
        },
      ];
    }),
  );
  return {
    components: Object.fromEntries(
      [...answers].map(([status, { name, named }]) => [name, failureResponse(status, all.get(status) ?? [], named)]),
    ),
    of: (endpoint) =>
      Object.fromEntries(
        [...byStatus(codesOf(endpoint))].map(([status, codes]) => {
          const answer = answers.get(status);
          const $ref = `#/components/responses/${answer?.name}`;
          return [status, { $ref, ...(!answer?.isNamed(codes) && { description: shownCodes(codes) }) }];
        }),
      ),
  };
}
