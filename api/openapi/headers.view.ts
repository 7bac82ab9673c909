// The headers of rate limits and idempotency keys (docs/interface.md, sections 8.2 and 8.3), as components that answers
// reference.

const key = '^[A-Za-z0-9_-]{8,128}$';
const count = { type: 'integer', minimum: 0 };

const table = {
  'X-Request-Id': {
    description: 'Names this request in the logs. A caller may send one of 8 to 128 letters, digits, _ or -.',
    required: true,
    schema: { type: 'string', pattern: key },
    example: 'req_2v8Kq0aT',
  },
  'RateLimit-Limit': { description: 'Requests in a window.', required: true, schema: count, example: 1000 },
  'RateLimit-Remaining': { description: 'What is left of this window.', required: true, schema: count, example: 998 },
  'RateLimit-Reset': { description: 'Seconds until the window resets.', required: true, schema: count, example: 850 },
  'RateLimit-Policy': {
    description: 'The limit and its window in seconds.',
    required: true,
    schema: { type: 'string' },
    example: '1000;w=900',
  },
  'Retry-After': {
    description: 'Seconds until the request may be repeated.',
    required: true,
    schema: count,
    example: 850,
  },
  'Idempotency-Key': {
    description: 'The key of this change: the one that was sent, or a generated one.',
    required: true,
    schema: { type: 'string', pattern: key },
    example: 'till-4-receipt-20391',
  },
  'Idempotent-Replayed': {
    description: 'Present on a stored answer to a repeated request.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'X-Program-Id': {
    description: 'The program of the card.',
    required: true,
    schema: { type: 'string' },
    example: 'demo-stamps',
  },
  'Content-Disposition': {
    description: 'Names the file.',
    required: true,
    schema: { type: 'string' },
    example: 'attachment; filename="events-7H2K9M4QXT.csv"',
  },
} as const;

export type HeaderName = keyof typeof table;

export const headerComponents: Record<string, unknown> = table;

/** The headers of every answer that counts against a rate limit, as the description of the document says once. */
export const countedHeaders: HeaderName[] = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
];

export function headersOf(names: readonly HeaderName[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export const idempotencyKeyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'One key for one change: for at least 24 hours a retry with the same key and request gets the stored answer and applies nothing twice. Without one the service makes a key and names it in the answer.',
  schema: { type: 'string', pattern: key },
  example: 'till-4-receipt-20391',
};
