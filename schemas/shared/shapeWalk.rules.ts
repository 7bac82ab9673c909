// Reads the structure of a zod schema: the object inside its wrappers, and the schema at a path.
import type { z } from 'zod';

/** The definition of a schema, as far as this project's schemas use it. */
interface Definition {
  type: string;
  shape?: Record<string, z.ZodType>;
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  keyType?: z.ZodType;
  valueType?: z.ZodType;
  options?: z.ZodType[];
}

const wrappers: ReadonlySet<string> = new Set(['optional', 'nullable', 'default', 'prefault']);

// zod has no public type for the definitions of all its schemas.
export const definitionOf = (schema: z.ZodType): Definition => schema._zod.def as unknown as Definition;

/** The schema without wrappers for optional values and defaults. */
export function unwrapped(schema: z.ZodType): z.ZodType {
  const { type, innerType } = definitionOf(schema);
  return wrappers.has(type) && innerType ? unwrapped(innerType) : schema;
}

/** The schemas for the value at this path; none when the path is not in the schema. */
export function schemasAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType[] {
  const plain = unwrapped(schema);
  const { shape, element, valueType, options, in: input } = definitionOf(plain);
  if (input) return schemasAt(input, path);
  if (options) return options.flatMap((option) => schemasAt(option, path));
  const [key, ...rest] = path;
  if (key === undefined) return [plain];
  const inner = shape?.[String(key)] ?? element ?? valueType;
  return inner ? schemasAt(inner, rest) : [];
}

/** The paths of all fields of a schema, such as `passTemplate.backFields.label`; entries of lists have no number. */
export function fieldPaths(schema: z.ZodType, prefix = ''): string[] {
  const { shape, element, options, in: input } = definitionOf(unwrapped(schema));
  if (input) return fieldPaths(input, prefix);
  if (element) return fieldPaths(element, prefix);
  if (options) return [...new Set(options.flatMap((option) => fieldPaths(option, prefix)))];
  return Object.entries(shape ?? {}).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    return [path, ...fieldPaths(field, path)];
  });
}
