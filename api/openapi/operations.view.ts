// Turns a line of the endpoint table into an OpenAPI operation. All content comes from the line.
import { type Endpoint, fileTypesOf } from '../../schemas/access/endpoint.schema.js';
import { type ErrorCode, errorTable } from '../../schemas/shared/errors.js';
import { type ExampleOf, exampleOf, sampleTime, withExamples } from './examples.view.js';
import { codesOf, errorExample, type Failures, type Responses } from './failures.view.js';
import { type HeaderName, headersOf, idempotencyKeyParameter } from './headers.view.js';
import { securityOf } from './security.view.js';
import { type JsonSchema, resolve, type Shapes } from './shapes.view.js';

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: Record<string, unknown>[];
  requestBody?: Record<string, unknown>;
  responses: Responses;
  [extension: `x-${string}`]: unknown;
}

export interface OperationInput {
  name: string;
  endpoint: Endpoint;
  requests: Shapes;
  outputs: Shapes;
  failures: Failures;
  links: Record<string, unknown>;
}

export const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

export const paramsOf = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

function accessSentence({ access, otherAccess, starterMay, alsoAccess, session, description }: Endpoint): string {
  if (access === 'public') return 'Needs no credential; counted by IP address.';
  if (access === 'session') return 'Needs a console session, with any roles; an API key is refused.';
  const described = description === undefined ? '' : ', as the description says';
  if (otherAccess) return `Needs the permission \`${access}\` or \`${otherAccess}\`${described}.`;
  if (starterMay) return `Needs the permission \`${access}\`; who started the batch needs none.`;
  if (alsoAccess) return `Needs the permissions \`${access}\` and \`${alsoAccess}\`.`;
  return `Needs the permission \`${access}\`${session ? ' in a console session; an API key is refused' : ''}.`;
}

function parametersOf({ name, endpoint, requests }: OperationInput): Record<string, unknown>[] {
  const { path, query, idempotent } = endpoint;
  const inPath = paramsOf(path).map((param) => ({
    name: param,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const fields = query ? resolve(requests.of(`${name}.query`), requests.components) : {};
  const inQuery = Object.entries(fields.properties ?? {}).map(([field, { description, example, ...schema }]) => ({
    name: field,
    in: 'query',
    ...(fields.required?.includes(field) && { required: true }),
    ...(description !== undefined && { description }),
    schema,
    ...(example !== undefined && { example }),
  }));
  return [...inPath, ...inQuery, ...(idempotent ? [idempotencyKeyParameter] : [])];
}

function requestBodyOf({ name, endpoint, requests }: OperationInput): Record<string, unknown> | undefined {
  if (endpoint.upload) return uploadBody(endpoint);
  if (!endpoint.body) return undefined;
  const schema = requests.of(`${name}.body`);
  const media = { schema, ...(endpoint.example !== undefined && { example: endpoint.example }) };
  return {
    required: !endpoint.bodyOptional,
    content: {
      'application/json': media,
      ...(endpoint.form && { 'application/x-www-form-urlencoded': media }),
    },
  };
}

function successDescription(status: number, statuses: readonly number[]): string {
  if (status === 201) return 'Created.';
  if (status === 202) return 'Accepted; the work goes on.';
  if (statuses.includes(201)) return 'It was there already; nothing was created.';
  return statuses.includes(202) ? 'A dry run: nothing was written.' : 'Done.';
}

/** The codes of the one success that may lack something. */
const partialCodes = (endpoint: Endpoint, status: number): ErrorCode[] =>
  codesOf(endpoint).filter((code) => errorTable[code].status === status);

const partialSentence = (endpoint: Endpoint, status: number): string[] =>
  partialCodes(endpoint, status).map((code) => `Or partly, with \`${code}\`.`);

const envelope = (data: JsonSchema): JsonSchema => ({
  type: 'object',
  required: ['success', 'data'],
  properties: { success: { type: 'boolean', const: true }, data },
});

/**
 * The one exception of docs/interface.md#13-response-envelope: `success: false` and `partial: true` together with the
 * data.
 */
const partialEnvelope = (data: JsonSchema): JsonSchema => ({
  type: 'object',
  required: ['success', 'partial', 'data', 'error'],
  properties: {
    success: { type: 'boolean', const: false },
    partial: { type: 'boolean', const: true },
    data,
    error: { $ref: '#/components/schemas/Error' },
  },
});

/** The example of a 200 that has `field` where the endpoint can also answer 201 or 202. */
function otherExample(data: JsonSchema, at: ExampleOf, field: 'deduped' | 'dryRun'): unknown {
  const { anyOf, properties } = resolve(data, at.components);
  const branch = anyOf?.find((choice) => resolve(choice, at.components).required?.includes(field));
  if (branch) return exampleOf(branch, at);
  const example = exampleOf(data, at);
  return properties?.deduped ? { ...Object(example), deduped: true } : example;
}

/** An answer has an example of its own where that of its schema does not fit. */
function jsonContent({ name, endpoint, outputs }: OperationInput, status: number) {
  const data = withExamples(outputs.of(`${name}.result`), name);
  const { components } = outputs;
  const at = { components, operation: name };
  const otherStatus = ([201, 202] as const).find((other) => status === 200 && endpoint.statuses.includes(other));
  const example = otherStatus
    ? otherExample(data, at, otherStatus === 201 ? 'deduped' : 'dryRun')
    : exampleOf(data, at);
  const [code] = partialCodes(endpoint, status);
  if (code === undefined) {
    const fits = JSON.stringify(example) === JSON.stringify(exampleOf(data, { components }));
    return {
      'application/json': { schema: envelope(data), ...(!fits && { example: { success: true, data: example } }) },
    };
  }
  return {
    'application/json': {
      schema: { oneOf: [envelope(data), partialEnvelope(data)] },
      examples: {
        whole: { value: { success: true, data: example } },
        partial: { value: { success: false, partial: true, data: example, error: errorExample(code) } },
      },
    },
  };
}

function successResponse(input: OperationInput, status: number): Record<string, unknown> {
  const { endpoint, links } = input;
  const types = fileTypesOf(endpoint);
  const own: HeaderName[] = [
    ...(endpoint.idempotent ? (['Idempotency-Key', 'Idempotent-Replayed'] as const) : []),
    ...(types ? (['Content-Disposition'] as const) : []),
    ...(endpoint.headers ?? []),
  ];
  return {
    description: [successDescription(status, endpoint.statuses), ...partialSentence(endpoint, status)].join(' '),
    ...(own.length > 0 && { headers: headersOf(own) }),
    content: types ? fileContent(types, input.name) : jsonContent(input, status),
    ...(Object.keys(links).length > 0 && { links }),
  };
}

export function operationOf(input: OperationInput): Operation {
  const { name, endpoint, failures } = input;
  const { tag, summary, description, access, session } = endpoint;
  const requestBody = requestBodyOf(input);
  const security = securityOf(endpoint);
  const parameters = parametersOf(input);
  const successes = endpoint.statuses.map((status) => [status, successResponse(input, status)]);
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: [description, accessSentence(endpoint)].filter(Boolean).join('\n\n'),
    ...(security && { security }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: { ...Object.fromEntries(successes), ...failures.of(endpoint) },
    ...(access !== 'public' && access !== 'session' && { 'x-permission': access }),
    ...(session && { 'x-console-session': true }),
  };
}

const csvIn = 'firstName,lastName,email,initialPoints\nAda,Lovelace,ada@example.com,20\n';

const flag = { type: 'string', enum: ['true', 'false'] };

/** The options may be in the query too. */
const multipart = {
  schema: {
    type: 'object',
    required: ['file'],
    properties: {
      programId: { type: 'string', minLength: 1, maxLength: 64 },
      mapping: { type: 'string', contentMediaType: 'application/json', maxLength: 8_192 },
      quiet: flag,
      dryRun: flag,
      file: { type: 'string', format: 'binary', contentMediaType: 'text/csv' },
    },
  },
  encoding: { file: { contentType: 'text/csv' } },
  example: { programId: 'demo-points', file: csvIn },
};

function uploadBody(endpoint: Endpoint) {
  return {
    required: true,
    content: {
      'multipart/form-data': multipart,
      ...(endpoint.rawUpload && { 'text/csv': { schema: { type: 'string' }, example: csvIn } }),
    },
  };
}

const files: Record<string, string> = {
  exportTimeline: `\uFEFFid,type,outcome,platform,occurredAt,detail\r\n0b6c1f0e,push_sent,success,apple,${sampleTime},\r\n`,
};

function fileContent(types: readonly string[], operation: string) {
  const example = files[operation];
  const media = (type: string) =>
    type === 'text/csv'
      ? { schema: { type: 'string' }, ...(example !== undefined && { example }) }
      : { schema: { type: 'string', format: 'binary' } };
  return Object.fromEntries(types.map((type) => [type, media(type)]));
}
