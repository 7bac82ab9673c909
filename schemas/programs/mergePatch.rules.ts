// JSON Merge Patch (RFC 7396): a field of a patch replaces the field, null removes it, objects are merged, lists are
// replaced.
import { z } from 'zod';
import { definitionOf, unwrapped } from '../shared/shapeWalk.rules.js';

export type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function mergePatch(value: Json, patch: Json): Json {
  const merged = new Map(Object.entries(value));
  for (const [key, change] of Object.entries(patch)) {
    const before = merged.get(key);
    if (change === null) merged.delete(key);
    else if (change !== undefined)
      merged.set(key, isObject(change) ? mergePatch(isObject(before) ? before : {}, change) : change);
  }
  return Object.fromEntries(merged);
}

/** The schema of patches for values of a schema: no field is required, and each may be null. */
export function patchOf(schema: z.ZodType): z.ZodType {
  const plain = unwrapped(schema);
  const { shape, type, keyType, valueType } = definitionOf(plain);
  if (shape)
    return z.strictObject(
      Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, patchOf(field).nullable().optional()])),
    );
  if (type === 'record' && keyType && valueType)
    return z.partialRecord(keyType as z.ZodType<string, string>, patchOf(valueType).nullable());
  return plain;
}
