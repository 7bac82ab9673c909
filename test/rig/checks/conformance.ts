// Checks every response in a test against the OpenAPI document: the status is declared, required headers are present,
// and the body has the declared shape with no other fields. A request body that the service accepted must match the
// document, too.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openApiDocument } from '../../../api/openapi/document.view.js';
import { countedHeaders } from '../../../api/openapi/headers.view.js';
import type { Operation } from '../../../api/openapi/operations.view.js';
import { apiPrefix } from '../../../schemas/tables/endpoints.js';
import { at, escaped, isObject, type Json, objectsIn } from './pointer.js';

export interface Exchange {
  method: string;
  url: string;
  /** The request body as it was sent, if it was JSON. */
  requestBody: unknown;
  status: number;
  headers: Headers;
  text: string;
}

interface Known {
  method: string;
  pattern: RegExp;
  params: number;
  operation: Operation;
  /** JSON pointer to the operation. */
  place: string;
}

export const openApi = openApiDocument({ publicUrl: 'http://127.0.0.1' });

const asJson: unknown = JSON.parse(JSON.stringify(openApi));

/** The named schemas that are parts of others. */
const parts = new Set<unknown>(
  [...objectsIn(asJson)].flatMap(({ node }) =>
    Array.isArray(node.allOf) ? node.allOf.flatMap((part) => (isObject(part) && part.$ref ? [part.$ref] : [])) : [],
  ),
);
const isNamedPart = (pointer: string): boolean => parts.has(`#${pointer}`);

/**
 * Closes the schemas of responses. The document leaves them open, so that clients accept new fields; in a test an
 * undeclared field is an error. The parts of `allOf` are closed together, and a named part where it stands alone.
 */
function closed(value: unknown, pointer = ''): unknown {
  if (Array.isArray(value)) return value.map((entry, index) => closed(entry, `${pointer}/${index}`));
  if (!isObject(value)) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, closed(entry, `${pointer}/${key}`)]),
  );
  if (isNamedPart(pointer) || /\/allOf\/\d+$/.test(pointer)) return inner;
  const isWhole = Array.isArray(value.allOf) || parts.has(value.$ref);
  if (isWhole) return { ...inner, unevaluatedProperties: false };
  const open = value.type === 'object' && isObject(value.properties) && value.additionalProperties === undefined;
  return open ? { ...inner, additionalProperties: false } : inner;
}

const options = { strict: true, strictTypes: false, strictRequired: false, allErrors: true } as const;
const answers = new Ajv2020(options);
addFormats.default(answers);
// The service trims texts before it checks their format, so it accepts slightly more than the formats allow.
const requests = new Ajv2020({ ...options, validateFormats: false });

const checked: unknown = JSON.parse(
  JSON.stringify(closed(asJson)).replaceAll('#/components/schemas/', 'named#/$defs/'),
);

for (const ajv of [answers, requests]) ajv.addSchema({ $id: 'named', $defs: at(checked, '/components/schemas') });

const validators = new Map<string, ValidateFunction>();

/** The validator of the schema at this JSON pointer of the document. */
export function validatorAt(pointer: string, ajv = answers): ValidateFunction {
  const schema = at(checked, pointer);
  if (!isObject(schema)) throw new Error(`There is no schema at ${pointer}.`);
  const validator = validators.get(pointer) ?? ajv.compile(schema);
  validators.set(pointer, validator);
  return validator;
}

function patternOf(template: string): RegExp {
  const source = template.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${source}$`);
}

const operations: Known[] = Object.entries(openApi.paths).flatMap(([template, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    method: method.toUpperCase(),
    pattern: patternOf(template),
    params: template.split('{').length - 1,
    operation,
    place: `/paths/${escaped(template)}/${method}`,
  })),
);

function resolved(node: unknown): Json {
  if (!isObject(node)) return {};
  const { $ref, ...others } = node;
  return typeof $ref === 'string' ? { ...resolved(at(asJson, $ref.slice(1))), ...others } : node;
}

function pointerOf(node: unknown, place: string): string {
  return isObject(node) && typeof node.$ref === 'string' ? node.$ref.slice(1) : place;
}

function headerProblems(response: Json, headers: Headers): string[] {
  return Object.keys(resolved(response.headers)).flatMap((name) => {
    const header = resolved(resolved(response.headers)[name]);
    const value = headers.get(name);
    if (value === null) return header.required ? [`the header ${name} is missing`] : [];
    const validator = validatorAt(`/components/headers/${name}/schema`);
    return validator(asHeader(name, value)) ? [] : [`the header ${name} is ${value}`];
  });
}

function asHeader(name: string, value: string | null): unknown {
  const { type } = resolved(at(asJson, `/components/headers/${name}/schema`));
  return type === 'integer' && value !== null ? Number(value) : value;
}

function said(validator: ValidateFunction): string[] {
  return (validator.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
  );
}

/** The headers that the description of the document names once for all answers. */
function commonHeaderProblems({ status, headers }: Exchange): string[] {
  const isCounted = status < 500 && status !== 431;
  return ['X-Request-Id', ...(isCounted ? countedHeaders : [])].flatMap((name) =>
    validatorAt(`/components/headers/${name}/schema`)(asHeader(name, headers.get(name)))
      ? []
      : [`the header ${name} is ${headers.get(name)}`],
  );
}

/** A failure has a code that the description of the answer names, and the details of that code. */
function codeProblems({ description }: Json, { code, details }: Json): string[] {
  const named = `\`${code}\``;
  if (!String(description).includes(named)) return [`${code} is not among its codes: ${description}`];
  if (details === undefined) return [];
  const shapes = '/components/schemas/Error/properties/details/anyOf';
  const index = [at(asJson, shapes)].flat().findIndex((shape) => String(resolved(shape).description).includes(named));
  if (index < 0) return [`${code} has details`];
  const validator = validatorAt(`${shapes}/${index}`);
  return validator(details) ? [] : said(validator);
}

function bodyProblems(response: Json, place: string, { status, headers, text }: Exchange): string[] {
  const type = (headers.get('content-type') ?? '').split(';')[0] ?? '';
  if (!resolved(response.content)[type]) return [`the content type ${type} is not declared`];
  if (type !== 'application/json') return [];
  const validator = validatorAt(`${place}/content/${escaped(type)}/schema`);
  const body: unknown = JSON.parse(text);
  if (!validator(body)) return said(validator);
  return status < 400 ? [] : codeProblems(response, resolved(resolved(body).error));
}

function requestProblems({ operation, place }: Known, { requestBody, status }: Exchange): string[] {
  if (status >= 300 || requestBody === undefined) return [];
  if (!resolved(resolved(operation.requestBody).content)['application/json']) return [];
  const validator = validatorAt(`${place}/requestBody/content/application~1json/schema`, requests);
  return validator(requestBody) ? [] : said(validator).map((problem) => `the request was taken, but ${problem}`);
}

function problemsOf(known: Known, exchange: Exchange): string[] {
  const node = known.operation.responses[exchange.status];
  if (!node) return [`the status ${exchange.status} is not declared`];
  const response = resolved(node);
  const place = pointerOf(node, `${known.place}/responses/${exchange.status}`);
  return [
    ...headerProblems(response, exchange.headers),
    ...commonHeaderProblems(exchange),
    ...bodyProblems(response, place, exchange),
    ...requestProblems(known, exchange),
  ];
}

/** A path that the document does not have must be answered 404, and an undeclared method of a known path 405. */
function strayProblems(pathIsKnown: boolean, { status, headers, text }: Exchange): string[] {
  // Anonymous requests are counted against the rate limit before the 404.
  if (status === 429) return [];
  const [expected, code] = pathIsKnown ? [405, 'METHOD_NOT_ALLOWED'] : [404, 'ROUTE_NOT_FOUND'];
  if (status !== expected) return [`the document knows no such operation, and it was answered ${status}`];
  if (pathIsKnown && !headers.get('allow')) return ['the header Allow is missing'];
  return text.includes(code) || text === '' ? [] : [`it was not answered ${code}`];
}

const documents = new Set(['openapi.json', 'program.schema.json'].map((file) => `${apiPrefix}/${file}`));

/**
 * Throws when the response does not match the document. Returns the operation id; undefined when the document has no
 * such operation.
 */
export function mustConform(exchange: Exchange): string | undefined {
  const path = new URL(exchange.url).pathname;
  if (!path.startsWith(apiPrefix) || documents.has(path)) return undefined;
  const below = path.slice(apiPrefix.length);
  const possible = operations.filter(({ pattern }) => pattern.test(below));
  // A literal path takes precedence over a path with a parameter, for all methods.
  const fewest = Math.min(...possible.map(({ params }) => params));
  const there = possible.filter(({ params }) => params === fewest);
  const known = there.find(({ method }) => method === exchange.method);
  const problems = known ? problemsOf(known, exchange) : strayProblems(there.length > 0, exchange);
  if (problems.length > 0) {
    const subject = `${exchange.method} ${path} answered ${exchange.status} against the OpenAPI document`;
    throw new Error(
      `${subject}:\n${problems.map((problem) => `  ${problem}`).join('\n')}\n${exchange.text.slice(0, 500)}`,
    );
  }
  return known?.operation.operationId;
}
