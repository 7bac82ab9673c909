// Converts zod schemas to JSON Schema 2020-12, the dialect of OpenAPI 3.1. A named schema becomes a component and is
// referenced; any other schema is inlined. Request schemas forbid unknown fields, as the guard does; answer schemas
// allow them, so that a new field breaks no client.
import { z } from 'zod';
import { nameText, plainText } from '../../schemas/shared/text.js';

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  allOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  examples?: unknown[];
  additionalProperties?: boolean | JsonSchema;
  [keyword: string]: unknown;
}

const componentPrefix = '#/components/schemas/';
const inlinePrefix = 'inline:';

const schemaUri = (id: string): string => `${componentPrefix}${id}`;

export function resolve(schema: JsonSchema, components: Record<string, JsonSchema>): JsonSchema {
  return schema.$ref === undefined ? schema : (components[schema.$ref.slice(componentPrefix.length)] ?? {});
}

/** The name of the component that a schema refers to. */
export function nameOf(schema: JsonSchema): string | undefined {
  return schema.$ref?.slice(componentPrefix.length);
}

interface Emitted {
  zodSchema: z.core.$ZodType;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}

/** `meta({ shown })` of a schema replaces what zod generates; other metadata is added to it. */
function readable(io: 'input' | 'output') {
  return ({ zodSchema, jsonSchema }: Emitted): void => {
    const shown = z.globalRegistry.get(zodSchema)?.shown;
    if (shown) {
      for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
      Object.assign(jsonSchema, shown);
    }
    // The format implies the pattern.
    if (['date-time', 'date', 'uuid'].includes(jsonSchema.format ?? '')) delete jsonSchema.pattern;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.type === 'integer' && jsonSchema.maximum === Number.MAX_SAFE_INTEGER) {
      delete jsonSchema.maximum;
      jsonSchema.format = 'int64';
    }
    delete jsonSchema.propertyNames;
    if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  };
}

const filled = { minLength: 1, not: { pattern: '^\\s*$' } };
const line = z.toJSONSchema(plainText()).pattern;
const name = z.toJSONSchema(nameText(1, 0)).pattern;

/** What many texts have in common: such a text refers to it, and says only what it has besides. */
export const textComponents: Record<string, JsonSchema> = {
  Name: { type: 'string', pattern: name, ...filled },
  FilledLine: { type: 'string', pattern: line, ...filled },
  Line: { type: 'string', pattern: line },
};

const isPart = (part: unknown, whole: unknown): boolean => JSON.stringify(part) === JSON.stringify(whole);

function withNamedTexts(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withNamedTexts);
  const entries = Object.entries(schema);
  const given: Record<string, unknown> = { ...schema };
  const found = Object.entries(textComponents).find(([, text]) =>
    Object.entries(text).every(([keyword, value]) => isPart(given[keyword], value)),
  );
  if (!found) return Object.fromEntries(entries.map(([key, value]) => [key, withNamedTexts(value)]));
  const besides = entries.filter(([keyword]) => !(keyword in found[1]));
  return { $ref: schemaUri(found[0]), ...Object.fromEntries(besides) };
}

export interface Shapes {
  components: Record<string, JsonSchema>;
  /** The schema for this key: a reference when the schema has a name. */
  of: (key: string) => JsonSchema;
}

export interface ShapesInput {
  io: 'input' | 'output';
  named: Record<string, z.ZodType>;
  inline: Record<string, z.ZodType>;
}

/** Throws when a schema without a name is used inside another one, because it cannot be referenced, or has two names. */
export function shapesOf({ io, named, inline }: ShapesInput): Shapes {
  const registry = z.registry<{ id: string }>();
  const ids = new Map<z.ZodType, string>();
  const wanted = [
    ...Object.entries(named),
    ...Object.entries(inline).map(([key, schema]) => [`${inlinePrefix}${key}`, schema] as const),
  ];
  for (const [id, schema] of wanted) {
    const other = ids.get(schema);
    if (other !== undefined && id in named) throw new Error(`${id} is ${other} by another name.`);
    if (other !== undefined) continue;
    ids.set(schema, id);
    registry.add(schema, { id });
  }
  const { schemas } = z.toJSONSchema(registry, { io, uri: schemaUri, override: readable(io) });
  const plain = withNamedTexts(JSON.parse(JSON.stringify(schemas))) as Record<string, JsonSchema>;
  const lost = JSON.stringify(Object.values(plain).map(({ $id, ...schema }) => schema)).match(/inline:\w+/);
  if (lost) throw new Error(`The schema of ${lost[0]} is used inside another one and has no name.`);
  const bodies = Object.fromEntries(Object.entries(plain).map(([id, { $schema, $id, ...schema }]) => [id, schema]));
  return {
    components: Object.fromEntries(Object.keys(named).map((name) => [name, bodies[name] ?? {}])),
    of(key) {
      const schema = inline[key];
      const id = schema && ids.get(schema);
      if (id === undefined) throw new Error(`Nothing is known of ${key}.`);
      return id.startsWith(inlinePrefix) ? (bodies[id] ?? {}) : { $ref: schemaUri(id) };
    },
  };
}
