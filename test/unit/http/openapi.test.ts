// Checks the OpenAPI document with an independent validator, against the tables that it is generated from, and against
// its own examples.
import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../api/openapi/document.view.js';
import type { Endpoint } from '../../../schemas/access/endpoint.schema.js';
import { eventTypes } from '../../../schemas/events/events.schema.js';
import { type ErrorCode, errorTable } from '../../../schemas/shared/errors.js';
import { endpoints } from '../../../schemas/tables/endpoints.js';
import { openApi, validatorAt } from '../../rig/checks/conformance.js';
import { at, isObject, type Json, objectsIn } from '../../rig/checks/pointer.js';
import { documents } from '../../rig/generate/documents.js';

const plain: Json = JSON.parse(JSON.stringify(openApi));

const lines: [string, Endpoint][] = Object.entries(endpoints);
const operations = Object.entries(openApi.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1 for an independent validator', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(plain))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    const broken = structuredClone(plain);
    delete broken.info;
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  it('has every endpoint of the table, and no other', () => {
    const shown = operations.map(({ path, method, operation }) => [operation.operationId, method, path]);
    const expected = lines.map(([name, { method, path }]) => [name, method, path.replace(/:(\w+)/g, '{$1}')]);
    expect(shown.sort()).toEqual(expected.sort());
  });

  it('describes for every operation what it needs, what it returns and what it refuses', () => {
    for (const { operation } of operations) {
      const endpoint: Endpoint = endpoints[operation.operationId as keyof typeof endpoints];
      const schemes = endpoint.session ? 2 : 4;
      expect(operation.security).toHaveLength(endpoint.access === 'public' ? 0 : schemes);
      const codes = operation['x-error-codes'] as ErrorCode[];
      const statuses = new Set([...endpoint.statuses, ...codes.map((code) => errorTable[code].status)]);
      expect(Object.keys(operation.responses).map(Number).sort()).toEqual([...statuses].sort());
      for (const code of endpoint.errors) expect(codes).toContain(code);
    }
  });

  it('has every error code of the table except those that belong to no operation', () => {
    const named = new Set(operations.flatMap(({ operation }) => operation['x-error-codes'] as ErrorCode[]));
    const missing = (Object.keys(errorTable) as ErrorCode[]).filter((code) => !named.has(code));
    expect(missing).toEqual([
      'MALFORMED_REQUEST',
      'ROUTE_NOT_FOUND',
      'METHOD_NOT_ALLOWED',
      'REQUEST_TIMEOUT',
      'EXPECTATION_FAILED',
    ]);
  });

  it('has no unresolved reference', () => {
    const refs = [...objectsIn(plain)].flatMap(({ node }) => (typeof node.$ref === 'string' ? [node.$ref] : []));
    expect(refs.length).toBeGreaterThan(100);
    expect(refs.filter((ref) => !isObject(at(plain, ref.slice(1))))).toEqual([]);
  });

  it('gives each operation and event its own id', () => {
    const ids = [...objectsIn(plain)].flatMap(({ pointer, node }) =>
      typeof node.operationId === 'string' && !pointer.includes('/links/') ? [node.operationId] : [],
    );
    expect(new Set(ids).size).toBe(lines.length + eventTypes.length);
    expect(ids).toHaveLength(lines.length + eventTypes.length);
  });

  it('has the webhooks of all events', () => {
    expect(Object.keys(openApi.webhooks)).toEqual([...eventTypes]);
    for (const type of eventTypes) {
      const post = at(plain, `/webhooks/${type}/post`);
      const names = isObject(post) && Array.isArray(post.parameters) ? post.parameters.map(({ name }) => name) : [];
      expect(names).toContain('X-Service-Webhook-Signature');
    }
  });

  it('has an example for every body, and every example matches its schema', () => {
    const wrong: string[] = [];
    let bodies = 0;
    for (const { pointer, node } of objectsIn(plain)) {
      if (!('schema' in node) || pointer.includes('/schema')) continue;
      const isJson = pointer.endsWith('application~1json');
      if (isJson) bodies += 1;
      const many = Object.entries(isObject(node.examples) ? node.examples : {}).map(([name, example]) => ({
        name,
        value: isObject(example) ? example.value : undefined,
      }));
      const all = 'example' in node ? [{ name: 'example', value: node.example }] : many;
      if (isJson && all.length === 0) wrong.push(`${pointer} has no example`);
      const validator = validatorAt(`${pointer}/schema`);
      for (const { name, value } of all)
        if (!validator(value)) wrong.push(`${pointer} ${name}: ${JSON.stringify(validator.errors)}`);
    }
    expect(wrong).toEqual([]);
    expect(bodies).toBeGreaterThan(lines.length * 3);
  });

  it('names the server by its public URL', () => {
    const { servers } = openApiDocument({ publicUrl: 'https://loyalty.example.com' });
    expect(servers.map(({ url }) => url)).toEqual(['https://loyalty.example.com/api/v1']);
  });
});

describe('the generated files of the repository', () => {
  it.each(Object.entries(documents))('%s is what `npm run openapi` writes', (file, text) => {
    const now = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    expect(now === text(now)).toBe(true);
  });
});
