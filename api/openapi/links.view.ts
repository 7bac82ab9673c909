// OpenAPI links: from the answer that creates a resource to every operation on that resource.
import type { Endpoint } from '../../schemas/access/endpoint.schema.js';
import { paramsOf } from './operations.view.js';
import { type JsonSchema, resolve, type Shapes } from './shapes.view.js';

interface LinksInput {
  name: string;
  endpoint: Endpoint;
  endpoints: Record<string, Endpoint>;
  outputs: Shapes;
}

const hasId = (schema: JsonSchema, { components }: Shapes): boolean =>
  resolve(schema, components).properties?.id !== undefined;

export function linksOf({ name, endpoint, endpoints, outputs }: LinksInput): Record<string, unknown> {
  const { method, path, result } = endpoint;
  if (method !== 'post' || typeof result === 'string' || !hasId(outputs.of(`${name}.result`), outputs)) return {};
  const below = Object.entries(endpoints).flatMap(([operationId, other]) => {
    const [param] = other.path.startsWith(`${path}/:`) ? paramsOf(other.path) : [];
    if (param === undefined) return [];
    return [[operationId, { operationId, parameters: { [param]: '$response.body#/data/id' } }]];
  });
  return Object.fromEntries(below);
}
