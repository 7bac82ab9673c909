// The failures of an endpoint by status: the codes that every endpoint of its kind can answer, and its own codes from
// the table.
import { z } from 'zod';
import type { Endpoint } from '../../schemas/access/endpoint.schema.js';
import { permissions } from '../../schemas/access/permissions.schema.js';
import { columnDetails, importFields } from '../../schemas/batches/importRows.rules.js';
import { type ErrorCode, errorTable } from '../../schemas/shared/errors.js';
import { candidate } from '../../schemas/till/till.schema.js';
import { countedHeaders, headersOf } from './headers.view.js';
import type { JsonSchema } from './shapes.view.js';

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
    schema: z.object({ missing: z.array(z.enum(permissions)) }),
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

function jsonOf(schema: z.ZodType): JsonSchema {
  const { $schema, ...json } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      delete jsonSchema.additionalProperties;
    },
  });
  return JSON.parse(JSON.stringify(json));
}

/** The schema of `error` for these codes. */
export function errorSchema(codes: ErrorCode[]): JsonSchema {
  const shapes = [...new Set(codes.flatMap((code) => details[code]?.schema ?? []))].map(jsonOf);
  const [only] = shapes;
  return {
    type: 'object',
    required: ['code', 'message'],
    properties: {
      code: { type: 'string', enum: codes },
      message: { type: 'string', description: 'For developers; branch on the code.' },
      display: { type: 'string', description: 'For a cashier, in a language of Accept-Language.' },
      ...(only && { details: shapes.length === 1 ? only : { anyOf: shapes } }),
    },
  };
}

export function errorExample(code: ErrorCode) {
  const example = details[code]?.example;
  return { code, message: errorTable[code].message, ...(example !== undefined && { details: example }) };
}

function failureResponse(status: number, codes: ErrorCode[]) {
  const counted = status < 500 && !codes.includes('HEADERS_TOO_LARGE') ? countedHeaders : [];
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code].message}`).join('\n\n'),
    headers: headersOf([
      'X-Request-Id',
      ...counted,
      ...(status === 429 || status === 503 ? (['Retry-After'] as const) : []),
    ]),
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['success', 'error'],
          properties: { success: { type: 'boolean', const: false }, error: errorSchema(codes) },
        },
        examples: Object.fromEntries(
          codes.map((code) => [code, { value: { success: false, error: errorExample(code) } }]),
        ),
      },
    },
  };
}

const pascal = (code: string): string =>
  code.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Answers that many endpoints share are components: those with one code, and the one with all 401 codes. */
function sharedName(status: number, codes: ErrorCode[]): string | undefined {
  if (status === 401) return 'Unauthorized';
  return codes.length === 1 ? pascal(codes[0] ?? '') : undefined;
}

export type Responses = Record<string, unknown>;

export function failureResponses(endpoint: Endpoint, shared: Responses): Responses {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOf(endpoint)) {
    const { status } = errorTable[code];
    if (status >= 400) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const name = sharedName(status, codes);
      const response = failureResponse(status, codes);
      if (name === undefined) return [status, response];
      shared[name] = response;
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}
