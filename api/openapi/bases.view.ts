// Lets a schema that has all fields of a base refer to it, and say only what it has besides.
import type { JsonSchema } from './shapes.view.js';

const isAlike = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** What `schema` has besides all of `base`; undefined when it does not have all of it, or nothing else. */
function besides(schema: JsonSchema, base: JsonSchema): JsonSchema | undefined {
  const { properties = {}, required = [], ...others } = schema;
  const { properties: shared = {}, required: sharedRequired = [], ...sharedOthers } = base;
  const hasAll = Object.entries(shared).every(
    ([field, part]) => isAlike(properties[field], part) && required.includes(field) === sharedRequired.includes(field),
  );
  const own = Object.entries(properties).filter(([field]) => !(field in shared));
  if (!hasAll || own.length === 0 || !isAlike(others, sharedOthers)) return undefined;
  const ownRequired = required.filter((field) => !(field in shared));
  return {
    ...others,
    properties: Object.fromEntries(own),
    ...(ownRequired.length > 0 && { required: ownRequired }),
  };
}

export function withBases(schemas: Record<string, JsonSchema>, bases: readonly string[]): Record<string, JsonSchema> {
  const entries = Object.entries(schemas).map(([name, schema]) => {
    for (const base of bases) {
      const rest = base === name ? undefined : besides(schema, schemas[base] ?? {});
      if (rest) return [name, { allOf: [{ $ref: `#/components/schemas/${base}` }, rest] }];
    }
    return [name, schema];
  });
  return Object.fromEntries(entries);
}
