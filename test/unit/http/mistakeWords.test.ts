// The words of a refused value: plain sentences for all that a caller can send, and never the value itself.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Endpoint } from '../../../schemas/access/endpoint.schema.js';
import { importOptions } from '../../../schemas/batches/importOptions.schema.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import { mistakesOf } from '../../../schemas/shared/mistakes.rules.js';
import { definitionOf, unwrapped } from '../../../schemas/shared/shapeWalk.rules.js';
import { endpoints } from '../../../schemas/tables/endpoints.js';

function said(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value);
  return error ? mistakesOf(schema, error).map(({ message }) => message) : [];
}

describe('a refused value is described', () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.string(), undefined, 'is required'],
    [z.enum(['a', 'b']), undefined, 'is required'],
    [z.string(), null, 'must be text'],
    [z.string(), ['a'], 'must be text, not a list'],
    [z.int(), 12.5, 'must be a whole number'],
    [z.int(), '12', 'must be a whole number'],
    [z.int().min(1), 0, 'must be at least 1'],
    [z.int(), 2 ** 60, 'must be at most 9007199254740991'],
    [z.number(), Number.NaN, 'must be a number'],
    [z.number().gt(0), 0, 'must be more than 0'],
    [z.number().lt(2), 2, 'must be less than 2'],
    [z.boolean(), 'true', 'must be true or false'],
    [z.array(z.int()), {}, 'must be a list'],
    [z.object({}), 'x', 'must be an object'],
    [z.record(z.string(), z.string()), 7, 'must be an object'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().min(2), 'x', 'must have at least 2 characters'],
    [z.string().max(1), 'xx', 'must have at most 1 character'],
    [z.string().length(3), 'xx', 'must have exactly 3 characters'],
    [z.array(z.int()).min(1), [], 'must have at least 1 entry'],
    [z.array(z.int()).max(2), [1, 2, 3], 'must have at most 2 entries'],
    [z.enum(['a', 'b']), 'c', 'must be one of "a", "b"'],
    [z.literal(true), 'c', 'must be true'],
    [z.iso.datetime({ offset: true }), 'yesterday', 'must be a date and time, such as 2030-01-31T09:30:00Z'],
    [z.iso.date(), '2030-02-30', 'must be a date, such as 2030-01-31'],
    [z.uuid(), 'x', 'must be a UUID'],
    [z.string().startsWith('ab'), 'x', 'must begin with ab'],
    [z.string().regex(/^a$/), 'x', 'is not valid'],
    [z.string().refine(() => false), 'x', 'is not valid'],
    [z.record(z.string().max(1), z.int()), { xx: 1 }, 'must have at most 1 character'],
    [z.string('must be a name'), 7, 'must be a name'],
  ])('%# in plain words', (schema, value, sentence) => {
    expect(said(schema, value)).toEqual([sentence]);
  });
});

const secret = 'kumquat-7';
const junk: fc.Arbitrary<unknown> = fc.constantFrom<unknown[]>(
  ...[undefined, null, true, 0, -1, 12.5, 1e300, 2 ** 60, '', ' ', secret, `${secret}\u0000`, '\ud800', '12.50'],
  ...[secret.repeat(1_000), `https://${secret}`, [], [secret], Array(2_000).fill(secret), {}, { [secret]: secret }],
);

/** Values of the outer form which the schema asks for, with anything inside. */
function near(schema: z.ZodType, depth: number): fc.Arbitrary<unknown> {
  const { shape, element, valueType, options, in: input } = definitionOf(unwrapped(schema));
  const inside = (part: z.ZodType) => nearly(part, depth + 1);
  if (input) return inside(input);
  if (element) return fc.array(inside(element), { maxLength: 3 });
  if (valueType) return fc.dictionary(fc.constantFrom('de', 'x', secret), inside(valueType));
  if (options) return fc.oneof(...options.map(inside));
  const fields = Object.entries(shape ?? {}).map(([name, part]) => [name, inside(part)]);
  return shape ? fc.record(Object.fromEntries(fields), { requiredKeys: [] }) : junk;
}

const nearly = (schema: z.ZodType, depth = 0): fc.Arbitrary<unknown> =>
  depth > 6 ? junk : fc.oneof({ weight: 1, arbitrary: junk }, { weight: 6, arbitrary: near(schema, depth) });

const requests: [string, z.ZodType][] = [
  ...Object.entries<Endpoint>(endpoints).flatMap(([name, { body, query }]): [string, z.ZodType][] => [
    ...(body ? [[`the body of ${name}`, body] as [string, z.ZodType]] : []),
    ...(query ? [[`the query of ${name}`, query] as [string, z.ZodType]] : []),
  ]),
  ['the options of an import', importOptions],
  ['a program file', programFile],
];

it.each(requests)('%s is refused in words that are ours, without what was sent', (_name, schema) => {
  let refused = 0;
  fc.assert(
    fc.property(nearly(schema), (value) => {
      for (const message of said(schema, value)) {
        refused += 1;
        expect(message).not.toMatch(/invalid|expected|received|too (?:small|big)|unrecognized|undefined|NaN/i);
        expect(message).not.toContain(secret);
        expect(message).not.toBe('is not valid');
      }
    }),
  );
  expect(refused).toBeGreaterThan(0);
});
