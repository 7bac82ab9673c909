// The OpenAPI 3.1 document, built from the tables that the service itself runs on: endpoints, errors, events.
import type { z } from 'zod';
import { type Endpoint, fileTypesOf } from '../../schemas/access/endpoint.schema.js';
import { apiPrefix, endpoints } from '../../schemas/tables/endpoints.js';
import { withBases } from './bases.view.js';
import { withExamples } from './examples.view.js';
import { failuresOf, type Responses } from './failures.view.js';
import { headerComponents } from './headers.view.js';
import { bases, namedOutputs, namedRequests, namedResults } from './named.view.js';
import { type Operation, operationOf, paramsOf, templateOf } from './operations.view.js';
import { securitySchemes, usualSecurity } from './security.view.js';
import { type JsonSchema, nameOf, resolve, type Shapes, shapesOf, textComponents } from './shapes.view.js';
import { type Components, entriesOf, sharing } from './sharing.view.js';
import { receiverAnswers, webhookSection, withEventSamples } from './webhooks.view.js';

export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers: { url: string; description: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, unknown>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Responses;
    parameters: Components;
    links: Components;
    headers: Components;
    securitySchemes: Components;
  };
}

const tags: Record<Endpoint['tag'], string> = {
  'API keys': 'Made, listed and revoked from a console session.',
  Roles: 'Named sets of permissions. Nobody grants a permission that he does not hold.',
  Users: 'The people of a merchant, and how they sign in and out.',
  Programs: 'Designed in console sessions, read by everybody else.',
  Members: 'Enroll, search, read, tag and import members.',
  'Points and rewards': 'Everything that changes a balance or a status, and the push of a pass.',
  Timeline: 'What happened to a pass, and the ledger of its balance.',
  Till: 'Readers, and what their devices may do.',
  Webhooks: 'Subscriptions, their secrets, the delivery log, test and replay.',
  Campaigns: 'A message to the passes of many.',
  Batches: 'Work that goes on after its answer.',
  Overview: 'What happened, in numbers, and who changed what.',
  Public: 'What anybody may call.',
};

const description = `Enroll loyalty members into pass programs, adjust points, redeem rewards, read history, receive signed webhooks.

Every JSON answer is \`{success: true, data}\` or \`{success: false, error: {code, message}}\`; branch on \`error.code\`. The one
exception is the public enrollment, which may answer \`success: false\` with \`partial: true\` and its data.

Authenticate with an API key in either header form, or with the console's token. 1000 requests in 15 minutes for each key, user or reader, and 50 for each IP address
where no credential is needed, unless the operator says otherwise.

Every answer has the header \`X-Request-Id\`, and every one below 500 except 431 the four \`RateLimit-*\` headers, as in \`components.headers\`.

\`memberCode\` is the Member ID that people see; \`id\` goes into paths; \`serialNumber\` is never shown to anybody.`;

function inlineOf(part: 'query' | 'body' | 'result'): Record<string, z.ZodType> {
  const lines: Record<string, Endpoint> = endpoints;
  return Object.fromEntries(
    Object.entries(lines).flatMap(([name, endpoint]) => {
      const schema = endpoint[part];
      return schema === undefined || typeof schema === 'string' || !('parse' in schema)
        ? []
        : [[`${name}.${part}`, schema]];
    }),
  );
}

/** Throws when one name has different schemas in requests and in answers. */
function merged(requests: Shapes, outputs: Shapes): Record<string, JsonSchema> {
  for (const [name, schema] of Object.entries(requests.components)) {
    const other = outputs.components[name];
    if (other && JSON.stringify(other) !== JSON.stringify(schema)) throw new Error(`${name} is two things.`);
  }
  const all = Object.entries({ ...textComponents, ...requests.components, ...outputs.components });
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const eventsText =
  'What subscribers are sent, at least once: deduplicate by `eventId`. Signed with the secret of the subscription, not with a credential of the API.';

export function openApiDocument({ publicUrl }: { publicUrl: string }): OpenApiDocument {
  const requests = shapesOf({
    io: 'input',
    named: namedRequests,
    inline: { ...inlineOf('query'), ...inlineOf('body') },
  });
  const bare = shapesOf({ io: 'output', named: namedOutputs, inline: inlineOf('result') });
  const shown = Object.entries(bare.components).map(([name, schema]) => [
    name,
    name in namedResults ? withExamples(schema, name) : schema,
  ]);
  const outputs: Shapes = { ...bare, components: withEventSamples(Object.fromEntries(shown)) };
  const failures = failuresOf(Object.values(endpoints));
  const paths: OpenApiDocument['paths'] = {};
  const lines: Record<string, Endpoint> = endpoints;
  for (const [name, endpoint] of Object.entries(lines)) {
    const links = linksOf({ name, endpoint, endpoints: lines, outputs });
    const path = templateOf(endpoint.path);
    paths[path] ??= {};
    paths[path][endpoint.method] = operationOf({ name, endpoint, requests, outputs, failures, links });
  }
  const webhooks = webhookSection();
  const shared = sharedParts([...Object.values(paths), ...Object.values(webhooks)].flatMap(Object.values));
  return {
    openapi: '3.1.0',
    info: { title: 'Loyalty Pass Service', version: '1.1.0', description },
    servers: [{ url: `${publicUrl}${apiPrefix}`, description: 'This service' }],
    security: usualSecurity,
    tags: [
      ...Object.entries(tags).map(([name, text]) => ({ name, description: text })),
      { name: 'Events', description: eventsText },
    ],
    paths,
    webhooks,
    components: {
      schemas: withBases(merged(requests, outputs), bases),
      ...shared,
      responses: { ...shared.responses, ...failures.components, ...receiverAnswers },
      headers: headerComponents,
      securitySchemes,
    },
  };
}

/** As many levels of objects are broken into lines: each operation, schema and answer has a line of its own. */
const brokenLevels = 3;

function inLines(value: unknown, levels: number): string {
  if (levels === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const lines = Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}:${inLines(part, levels - 1)}`);
  return `{\n${lines.join(',\n')}\n}`;
}

/** What is served, and openapi.json. */
export const openApiText = (given: { publicUrl: string }): string =>
  `${inLines(JSON.parse(JSON.stringify(openApiDocument(given))), brokenLevels)}\n`;

/** Moves what operations have alike into components. */
function sharedParts(operations: Operation[]) {
  const answers = operations.flatMap(({ responses }) => entriesOf(responses));
  const parameters = operations.flatMap((operation) => entriesOf(operation.parameters));
  return {
    links: sharing(
      'links',
      answers.flatMap(({ part }) => entriesOf(part.links)).map((entry) => ({ ...entry, name: entry.key })),
    ),
    parameters: sharing(
      'parameters',
      parameters.map((entry) => ({ ...entry, name: String(entry.part.name) })),
    ),
    responses: sharing(
      'responses',
      answers.map((entry) => ({ ...entry, name: answerName(entry.part) })),
    ),
  };
}

/** After what the answer holds; empty where that has no name. */
function answerName({ content }: Record<string, unknown>): string {
  const [media] = entriesOf(content);
  const schema = media?.part.schema as JsonSchema | undefined;
  const data = schema?.properties?.data;
  const name = data && nameOf(data);
  return name ? `${name}Answer` : '';
}

interface LinksInput {
  name: string;
  endpoint: Endpoint;
  endpoints: Record<string, Endpoint>;
  outputs: Shapes;
}

const hasId = (schema: JsonSchema, { components }: Shapes): boolean =>
  resolve(schema, components).properties?.id !== undefined;

function linksOf({ name, endpoint, endpoints, outputs }: LinksInput): Record<string, unknown> {
  const { method, path } = endpoint;
  if (method !== 'post' || fileTypesOf(endpoint) || !hasId(outputs.of(`${name}.result`), outputs)) return {};
  const below = Object.entries(endpoints).flatMap(([operationId, other]) => {
    const [param] = other.path.startsWith(`${path}/:`) ? paramsOf(other.path) : [];
    if (param === undefined) return [];
    return [[operationId, { operationId, parameters: { [param]: '$response.body#/data/id' } }]];
  });
  return Object.fromEntries(below);
}
