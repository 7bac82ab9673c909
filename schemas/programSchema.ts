// The JSON Schema of the program file, for editors. Served at /api/v1/program.schema.json; program.schema.json in the
// repository is the same.
import { z } from 'zod';
import { programFile } from './programs.js';

type JsonSchema = Record<string, unknown>;

const styleIs = (style: string): JsonSchema => ({ properties: { style: { const: style } }, required: ['style'] });

/**
 * The rules between fields, which zod does not write into a JSON Schema. JSON Schema cannot express that tiers ascend.
 */
const rule = (style: string, met: JsonSchema, unmet: JsonSchema | true = true): JsonSchema => ({
  if: styleIs(style),
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: met,
  else: unmet,
});

const between: JsonSchema[] = [
  rule('stamps', { required: ['goal'], properties: { goal: { maximum: 100 } } }),
  rule('tiered', { required: ['tiers'] }, { properties: { tiers: false, basis: false } }),
];

/** A file holds one program or a list of them. */
export function programJsonSchema(): JsonSchema {
  const { $schema, ...program } = z.toJSONSchema(programFile, { io: 'input' });
  const properties = { $schema: { type: 'string' }, ...program.properties };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Program file of the Loyalty Pass Service',
    anyOf: [{ $ref: '#/$defs/program' }, { type: 'array', items: { $ref: '#/$defs/program' } }],
    $defs: { program: { ...program, properties, allOf: between } },
  };
}

export const programSchemaText = (): string => `${JSON.stringify(programJsonSchema(), null, 2)}\n`;
