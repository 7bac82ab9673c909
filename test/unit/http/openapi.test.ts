// Checks the OpenAPI document with an independent validator, against the tables that it is generated from, and against
// its own examples.
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { openApiDocument, openApiText } from '../../../api/openapi/document.view.js';
import { exampleOf } from '../../../api/openapi/examples.view.js';
import { codesOf } from '../../../api/openapi/failures.view.js';
import { bases } from '../../../api/openapi/named.view.js';
import { nameOf } from '../../../api/openapi/shapes.view.js';
import type { Endpoint } from '../../../schemas/access/endpoint.schema.js';
import { eventTypes } from '../../../schemas/events/events.schema.js';
import { type ErrorCode, errorTable } from '../../../schemas/shared/errors.js';
import { endpoints } from '../../../schemas/tables/endpoints.js';
import { openApi, validatorAt } from '../../rig/checks/conformance.js';
import { at, isObject, type Json, objectsIn } from '../../rig/checks/pointer.js';
import { documents } from '../../rig/generate/documents.js';

const plain: Json = JSON.parse(JSON.stringify(openApi));

const lines: [string, Endpoint][] = Object.entries(endpoints);
const endpointOf = ({ operationId }: { operationId: string }): Endpoint =>
  endpoints[operationId as keyof typeof endpoints];

const publicUrl = 'https://loyalty.example.com';

/** The codes that the description of an answer names: its own description, or that of what it refers to. */
function namedCodes(answer: unknown): ErrorCode[] {
  const { $ref, description } = Object(answer);
  const said = description ?? Object(at(plain, String($ref).slice(1))).description;
  return (Object.keys(errorTable) as ErrorCode[]).filter((code) => String(said).includes(`\`${code}\``));
}

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
      const endpoint = endpointOf(operation);
      const schemes = endpoint.session ? 2 : 4;
      expect(operation.security ?? openApi.security).toHaveLength(endpoint.access === 'public' ? 0 : schemes);
      const statuses = new Set([...endpoint.statuses, ...codesOf(endpoint).map((code) => errorTable[code].status)]);
      expect(Object.keys(operation.responses).map(Number).sort()).toEqual([...statuses].sort());
      for (const code of endpoint.errors) expect(codesOf(endpoint)).toContain(code);
    }
  });

  it('names at each answer of an operation the codes that it has, and no other', () => {
    const ofSome: ErrorCode[] = ['MALFORMED_JSON', 'CSRF_REJECTED', 'CONSOLE_SESSION_REQUIRED'];
    for (const { operation } of operations) {
      const codes = codesOf(endpointOf(operation));
      for (const [status, answer] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        const named = namedCodes(answer);
        const own = codes.filter((code) => errorTable[code].status === Number(status));
        const place = [operation.operationId, status];
        expect([place, own.filter((code) => !named.includes(code))]).toEqual([place, []]);
        const others = named.filter((code) => !own.includes(code));
        expect([place, others.filter((code) => !ofSome.includes(code))]).toEqual([place, []]);
      }
    }
  });

  it('has every error code of the table except those that belong to no operation', () => {
    const named = new Set(
      operations.flatMap(({ operation }) => Object.values(operation.responses).flatMap(namedCodes)),
    );
    const missing = (Object.keys(errorTable) as ErrorCode[]).filter((code) => !named.has(code));
    expect(missing).toEqual([
      'MALFORMED_REQUEST',
      'ROUTE_NOT_FOUND',
      'METHOD_NOT_ALLOWED',
      'REQUEST_TIMEOUT',
      'EXPECTATION_FAILED',
    ]);
  });

  it('has one schema of errors, and no schema that is false', () => {
    const failures = [...objectsIn(plain)].filter(
      ({ node }) => isObject(node.properties) && 'code' in node.properties && 'message' in node.properties,
    );
    expect(failures.map(({ pointer }) => pointer)).toEqual(['/components/schemas/Error']);
    const refused = [...objectsIn(plain)].filter(({ node }) => Object.values(Object(node.properties)).includes(false));
    expect(refused.map(({ pointer }) => pointer)).toEqual([]);
  });

  it('is at most 300 kB', () => {
    expect(Buffer.byteLength(openApiText({ publicUrl }))).toBeLessThanOrEqual(300_000);
  });

  it('is content with the rules of a linter', async () => {
    const rules = {
      // The service has no licence.
      'info-license': 'off',
      // By default it forbids fields that the schema allows.
      'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
    } as const;
    const config = await createConfig({ extends: ['recommended-strict'], rules });
    const findings = async (source: string) =>
      (await lintFromString({ source, config })).map(({ ruleId, message, location: [place] }) => [
        ruleId,
        message,
        place?.pointer,
      ]);
    expect(await findings(openApiText({ publicUrl: 'http://127.0.0.1:3000' }))).toEqual([]);
    const broken = { ...plain, tags: [], security: [] };
    expect((await findings(JSON.stringify(broken))).length).toBeGreaterThan(0);
  });

  it('has no unresolved reference', () => {
    const refs = [...objectsIn(plain)].flatMap(({ node }) => (typeof node.$ref === 'string' ? [node.$ref] : []));
    expect(refs.length).toBeGreaterThan(100);
    expect(refs.filter((ref) => !isObject(at(plain, ref.slice(1))))).toEqual([]);
  });

  it('says once what schemas have alike: each base is part of another schema, with no field of it again', () => {
    const { schemas } = openApi.components;
    const parts = Object.values(schemas).flatMap(({ allOf }) => (allOf ? [allOf] : []));
    for (const base of bases) {
      const using = parts.filter(([first]) => first && nameOf(first) === base);
      expect([base, using.length > 0]).toEqual([base, true]);
      const fields = Object.keys(schemas[base]?.properties ?? {});
      const again = using.flatMap(([, own]) => fields.filter((field) => field in (own?.properties ?? {})));
      expect(again).toEqual([]);
    }
  });

  it('has an answer that extends another with no field that neither has', () => {
    const [known, unknown] = ['Member', 'MemberDetail'].map((name) => {
      const schema = { $ref: `#/components/schemas/${name}` };
      const example = exampleOf(schema, { components: openApi.components.schemas });
      const validator = validatorAt(`/components/schemas/${name}`);
      return [validator(example), validator({ ...Object(example), other: 1 })];
    });
    expect([known, unknown]).toEqual([
      [true, true],
      [true, false],
    ]);
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
      const names = isObject(post) && Array.isArray(post.parameters) ? post.parameters.map(({ $ref }) => $ref) : [];
      expect(names).toContain('#/components/parameters/X-Service-Webhook-Signature');
    }
  });

  it('gives every body an example, its own or one made of its schema, that matches the schema', () => {
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
      const own = 'example' in node ? [{ name: 'example', value: node.example }] : many;
      const made = {
        name: 'of its schema',
        value: exampleOf(Object(node.schema), { components: openApi.components.schemas }),
      };
      const all = isJson && own.length === 0 ? [made] : own;
      const validator = validatorAt(`${pointer}/schema`);
      for (const { name, value } of all)
        if (!validator(value)) wrong.push(`${pointer} ${name}: ${JSON.stringify(validator.errors)}`);
    }
    expect(wrong).toEqual([]);
    expect(bodies).toBeGreaterThan(lines.length);
  });

  it('names the server by its public URL', () => {
    const { servers } = openApiDocument({ publicUrl });
    expect(servers.map(({ url }) => url)).toEqual(['https://loyalty.example.com/api/v1']);
  });
});

describe('the generated files of the repository', () => {
  it.each(Object.entries(documents))('%s is what `npm run openapi` writes', (file, text) => {
    const now = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    expect(now === text(now)).toBe(true);
  });
});
