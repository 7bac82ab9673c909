// The JSON Schema of the program file, for editors. Served at /api/v1/program.schema.json; program.schema.json in the
// repository is the same.
import { z } from 'zod';
import { barcodeFormats, memberCodeProblem } from './barcodes.rules.js';
import { programFile } from './programs.schema.js';

type JsonSchema = Record<string, unknown>;

const styleIs = (style: string): JsonSchema => ({ properties: { style: { const: style } }, required: ['style'] });

/** The rules between fields, which zod does not write into a JSON Schema. */
const rule = (style: string, met: JsonSchema, unmet: JsonSchema | true = true): JsonSchema => ({
  if: styleIs(style),
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: met,
  else: unmet,
});

const inTemplate = (given: JsonSchema, required: JsonSchema): JsonSchema => ({
  properties: {
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    passTemplate: { if: { properties: given, required: Object.keys(given) }, then: required },
  },
});

const sale = ['per', 'points', 'currency'];
const noSale = { properties: Object.fromEntries(sale.map((field) => [field, false])) };

const between: JsonSchema[] = [
  rule(
    'stamps',
    { required: ['goal'], properties: { goal: { maximum: 100 }, earn: noSale } },
    { properties: { earn: { required: sale } } },
  ),
  inTemplate({ poster: { const: true } }, { properties: { images: { required: ['artwork'] } }, required: ['images'] }),
  inTemplate(
    { barcodeFormat: { enum: barcodeFormats.filter((barcodeFormat) => memberCodeProblem({ barcodeFormat })) } },
    { properties: { barcode: { const: 'externalId' } }, required: ['barcode'] },
  ),
  rule('tiered', { required: ['tiers'] }, { properties: { tiers: false, basis: false } }),
];

/** What the service checks and a JSON Schema cannot express. */
const unsaid = [
  'the thresholds of tiers ascend',
  'no two rewards have the same id, and no two back fields the same key',
  'on a stamp card no reward costs more than the goal',
  'a time zone is one of the IANA database, and a code of `locales` that of a language',
  'text has a visible character',
  'the privacy address is a URL',
  'images are PNGs of the sizes in docs/program-file.md',
];

/** The pattern of a date is exact; validators differ about the format. */
function withoutFormat({ jsonSchema }: { jsonSchema: { pattern?: string; format?: string } }): void {
  if (jsonSchema.pattern !== undefined) delete jsonSchema.format;
}

/** A file holds one program or a list of them. */
export function programJsonSchema(): JsonSchema {
  const { $schema, ...program } = z.toJSONSchema(programFile, { io: 'input', override: withoutFormat });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Program file of the Loyalty Pass Service',
    description: `The service also checks what a JSON Schema cannot express: ${unsaid.join('; ')}.`,
    anyOf: [{ $ref: '#/$defs/program' }, { type: 'array', items: { $ref: '#/$defs/program' } }],
    $defs: { program: { ...program, allOf: between } },
  };
}

export const programSchemaText = (): string => `${JSON.stringify(programJsonSchema(), null, 2)}\n`;
