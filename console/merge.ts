// Reads and writes JSON values by paths such as `passTemplate.colors.label`, and computes the JSON Merge Patch (RFC
// 7396) between two values.
export type Json = { [key: string]: unknown };

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);

/** `undefined` removes the value. */
export function withAt(value: Json, path: string, next: unknown): Json {
  const [key = '', ...rest] = path.split('.');
  const { [key]: before, ...others } = value;
  const inner = rest.length === 0 ? next : withAt(isObject(before) ? before : {}, rest.join('.'), next);
  return inner === undefined ? others : { ...others, [key]: inner };
}

export function patchBetween(from: Json, to: Json): Json {
  const changed = Object.keys({ ...from, ...to }).filter(
    (key) => JSON.stringify(from[key]) !== JSON.stringify(to[key]),
  );
  return Object.fromEntries(
    changed.map((key) => {
      const [before, after] = [from[key], to[key]];
      if (after === undefined) return [key, null];
      return [key, isObject(before) && isObject(after) ? patchBetween(before, after) : after];
    }),
  );
}
