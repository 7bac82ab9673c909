// The fields of a JSON Schema as rows of a table.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Node = Record<string, Json>;

export interface FieldRow {
  /** From the outermost object, such as `passUpdate.apple.mode`; `[]` stands for each entry of a list. */
  path: string;
  form: string;
  isRequired: boolean;
  meaning: string;
}

const isNode = (value: Json | undefined): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const nodeOf = (value: Json | undefined): Node => (isNode(value) ? value : {});
const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** What a local reference of `document` stands for; anything else is returned as it is. */
export function resolved(value: Json | undefined, document: Json): Node {
  const { $ref, ...others } = nodeOf(value);
  if (typeof $ref !== 'string') return others;
  const steps = $ref.replace(/^#\//, '').split('/');
  const found = steps.reduce<Json | undefined>((at, step) => nodeOf(at)[step.replaceAll('~1', '/')], document);
  return { ...resolved(found, document), ...others };
}

const choicesOf = (schema: Node): Json[] => [...listOf(schema.anyOf), ...listOf(schema.oneOf)];

function formOf(schema: Node, document: Json): string {
  const { type, format, minimum, maximum, minLength, maxLength, maxItems } = schema;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  const values = listOf(schema.enum);
  if (values.length > 0) return values.map((value) => `\`${value}\``).join(', ');
  const choices = choicesOf(schema);
  if (choices.length > 0)
    return [...new Set(choices.map((choice) => formOf(resolved(choice, document), document)))].join(' or ');
  const [part] = listOf(schema.allOf);
  if (type === undefined && part !== undefined) return formOf(resolved(part, document), document);
  if (type === 'array') return `list of ${formOf(resolved(schema.items, document), document)}`;
  const from = minimum ?? (type === 'string' && minLength);
  const to = maximum ?? maxLength ?? maxItems;
  const least = Number.isSafeInteger(from) && Math.abs(Number(from)) < Number.MAX_SAFE_INTEGER ? from : undefined;
  const most = typeof to === 'number' && Math.abs(to) < Number.MAX_SAFE_INTEGER ? to : undefined;
  const range =
    least !== undefined && most !== undefined
      ? `${least} to ${most}`
      : (least !== undefined && `at least ${least}`) || (most !== undefined && `at most ${most}`);
  const name = typeof format === 'string' ? format : [type ?? 'anything'].flat().join(' or ');
  return range ? `${name}, ${range}${type === 'string' ? ' characters' : ''}` : name;
}

/** The rows of an object's fields, those of nested objects after the row of their field, `depth` levels deep. */
export function fieldRows(schema: Json, document: Json, depth = 4, path = ''): FieldRow[] {
  const node = resolved(schema, document);
  const inner = node.type === 'array' ? resolved(node.items, document) : node;
  const parts = [inner, ...[...listOf(inner.allOf), ...choicesOf(inner)].map((part) => resolved(part, document))];
  const rows = new Map<string, FieldRow>();
  for (const part of parts) {
    const required = listOf(part.required);
    for (const [name, value] of Object.entries(nodeOf(part.properties))) {
      const field = resolved(value, document);
      const here = `${path}${name}${field.type === 'array' ? '[]' : ''}`;
      if (rows.has(here)) continue;
      const { description = '' } = field;
      rows.set(here, {
        ...{ path: here, form: formOf(field, document) },
        ...{ isRequired: required.includes(name), meaning: String(description) },
      });
      if (depth > 1) for (const row of fieldRows(field, document, depth - 1, `${here}.`)) rows.set(row.path, row);
    }
  }
  return [...rows.values()];
}
