// Malicious and meaningless input for every endpoint that takes a body or a query, and what its refusal looks like.
import { expect } from 'vitest';
import type { Endpoint } from '../../../schemas/access/endpoint.schema.js';
import { endpoints } from '../../../schemas/tables/endpoints.js';

export const table: [string, Endpoint][] = Object.entries(endpoints);
export const withBody = table.filter(([, { body, form }]) => body && !form);
export const withQuery = table.filter(([, { query, upload }]) => query && !upload);

interface Refusal {
  status: number;
  text: string;
  body?: { success?: unknown; error?: { code?: unknown } } | undefined;
}

export function expectRefusal({ status, text, body }: Refusal, what: string): void {
  const shown = `${what} was answered ${status} ${text.slice(0, 200)}`;
  expect(status >= 400 && status < 500, shown).toBe(true);
  expect(body?.success, shown).toBe(false);
  expect(body?.error?.code, shown).toMatch(/^[A-Z][A-Z_]+$/);
  expect(text, shown).not.toMatch(/mongo|\$\w+ (is|must)|at \w+ \(|node_modules|ECONN|SyntaxError|zod/i);
}

export const operators = [
  { $ne: null },
  { $gt: '' },
  { $where: 'sleep(1000)' },
  { $regex: '.*' },
  { $in: [1] },
  { $expr: { $eq: [1, 1] } },
];

const brokenText = [
  '\u0000',
  'a\u0000b',
  'a\nb',
  '\ttab',
  'a\u001b[31m',
  'a\u007f',
  'a\u0085',
  'a\u2028b',
  '\ud800',
  'a\udfffb',
  'end\ud83d',
];

/** Fields that accept these values: a new program may have any id, and a draft in a preview any content. */
const allowed: Record<string, string[]> = { createProgram: ['_id'], previewProgram: ['program'] };

export const exampleOf = ({ example }: Endpoint) => (example ?? {}) as Record<string, unknown>;

/** Bodies of another type or with forbidden values. */
export function forbiddenBodies(name: string, endpoint: Endpoint): string[] {
  const isForbidden = (field: string) => !allowed[name]?.includes(field);
  const example = exampleOf(endpoint);
  return [
    ...(endpoint.bodyOptional ? [] : ['{}']),
    ...['null', '[]', '7', '"text"', 'true', '[{}]', '{', '{"a":', '\u0000'],
    ...Object.keys(example)
      .filter(isForbidden)
      .flatMap((field) => operators.map((operator) => JSON.stringify({ ...example, [field]: operator }))),
    ...['$set', '$where', 'constructor', 'toString', 'hasOwnProperty', 'a.b', '', 'merchantId', '_id', 'version']
      .filter(isForbidden)
      .map((field) => JSON.stringify({ ...example, [field]: 'x' })),
    `${JSON.stringify(example).slice(0, -1)}${Object.keys(example).length > 0 ? ',' : ''}"__proto__":{"isAdmin":true}}`,
    `{"constructor":{"prototype":{"isAdmin":true}}}`,
    `${'['.repeat(40_000)}${']'.repeat(40_000)}`,
    `${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}`,
  ];
}

/** Bodies with text that no screen can show. */
export const brokenBodies = (endpoint: Endpoint): string[] =>
  Object.entries(exampleOf(endpoint)).flatMap(([field, value]) => {
    if (typeof value !== 'string' && !Array.isArray(value)) return [];
    const broken = (text: string) => (Array.isArray(value) ? [`${value[0]}${text}`] : `${value}${text}`);
    return brokenText.map((text) => JSON.stringify({ ...exampleOf(endpoint), [field]: broken(text) }));
  });

/** Whether the body has the shape that the endpoint table gives. Only the handler can refuse it then. */
export function hasShape({ body: shape }: Endpoint, body: string): boolean {
  try {
    return shape?.safeParse(JSON.parse(body)).success ?? false;
  } catch {
    return false;
  }
}

const known = [
  'page',
  'pageSize',
  'limit',
  'programId',
  'q',
  'serial',
  'enabled',
  'subscriptionId',
  'eventType',
  'success',
  'after',
  'types',
  'kind',
];

/** The parameters that the query of the endpoint may have, of those that several have. */
export const queryNames = ({ query }: Endpoint): string[] =>
  known.filter(
    (name) =>
      !/is not a known|Unrecognized/.test(JSON.stringify(query?.safeParse({ [name]: '\u0000' }).error?.issues ?? [])),
  );
