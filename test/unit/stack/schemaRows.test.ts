// The tables of fields in the reference (stack/schemaRows.ts).
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fieldRows, type Json } from '../../../stack/schemaRows.js';

const document: Json = {
  components: {
    schemas: {
      Place: {
        type: 'object',
        properties: { city: { type: 'string', minLength: 1, maxLength: 9 } },
        required: ['city'],
      },
    },
  },
};
const place = { $ref: '#/components/schemas/Place', description: 'where' };

it('names each field with its form and whether it is required, through references, lists and alternatives', () => {
  const schema: Json = {
    type: 'object',
    required: ['at'],
    properties: {
      at: place,
      all: { type: 'array', items: place },
      either: { anyOf: [place, { type: 'null' }] },
      more: { allOf: [place, { type: 'object', properties: { street: { type: 'string' } } }] },
      kind: { enum: ['a', 'b'] },
      count: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    },
  };
  expect(fieldRows(schema, document).map(({ path, form, isRequired }) => [path, form, isRequired])).toEqual([
    ['at', 'object', true],
    ['at.city', 'string, 1 to 9 characters', true],
    ['all[]', 'list of object', false],
    ['all[].city', 'string, 1 to 9 characters', true],
    ['either', 'object or null', false],
    ['either.city', 'string, 1 to 9 characters', true],
    ['more', 'object', false],
    ['more.city', 'string, 1 to 9 characters', true],
    ['more.street', 'string', false],
    ['kind', '`a`, `b`', false],
    ['count', 'integer, at least 1', false],
  ]);
  expect(fieldRows({ properties: { at: place } }, document)[0]?.meaning).toBe('where');
});

it('goes no deeper than it was asked to, whatever refers to itself', () => {
  const loop: Json = {
    components: { schemas: { Loop: { properties: { next: { $ref: '#/components/schemas/Loop' } } } } },
  };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), (depth) => {
      const rows = fieldRows({ $ref: '#/components/schemas/Loop' }, loop, depth);
      expect(rows.map(({ path }) => path.split('.').length)).toEqual(Array.from({ length: depth }, (_, at) => at + 1));
    }),
  );
});
