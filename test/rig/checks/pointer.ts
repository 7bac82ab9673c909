// JSON pointers (RFC 6901) into documents of unknown shape.

export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const escaped = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');

const child = (node: unknown, part: string): unknown => {
  if (Array.isArray(node)) return node[Number(part)];
  return isObject(node) ? node[part] : undefined;
};

/** The value at the pointer; undefined when there is none. */
export function at(node: unknown, pointer: string): unknown {
  const parts = pointer.split('/').slice(1);
  return parts.reduce((here, part) => child(here, part.replaceAll('~1', '/').replaceAll('~0', '~')), node);
}

/** All objects inside the document, each with its pointer. */
export function* objectsIn(node: unknown, pointer = ''): Generator<{ pointer: string; node: Json }> {
  if (Array.isArray(node)) for (const [index, entry] of node.entries()) yield* objectsIn(entry, `${pointer}/${index}`);
  if (!isObject(node)) return;
  yield { pointer, node };
  for (const [key, entry] of Object.entries(node)) yield* objectsIn(entry, `${pointer}/${escaped(key)}`);
}
