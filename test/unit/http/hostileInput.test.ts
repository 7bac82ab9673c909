// Malicious and meaningless bodies and queries are refused by the guard in front of every route: with a code, without
// words of the machinery, and before the handler runs, so that nothing is changed. test/engines/http/hostileInput.test.ts
// sends some of them to the whole service.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import Koa from 'koa';
import { describe, expect, it } from 'vitest';
import { failure } from '../../../api/http/answer.js';
import type { ApiDeps } from '../../../api/http/apiDeps.js';
import { guarded } from '../../../api/http/guard.js';
import type { Route } from '../../../api/http/request.js';
import { type EndpointName, endpoints } from '../../../schemas/tables/endpoints.js';
import {
  brokenBodies,
  exampleOf,
  expectRefusal,
  forbiddenBodies,
  hasShape,
  operators,
  queryNames,
  withBody,
  withQuery,
} from '../../rig/checks/hostileInput.js';

// The cast: of all that a request may need, the guard of an endpoint without credential and audit needs this.
const deps = {
  config: { RATE_LIMIT_WINDOW_MS: 60_000, PROGRAM_MAX_BYTES: 8_000_000 },
  limits: { count: async () => ({ limit: 1, remaining: 1, resetSeconds: 1, exceeded: false }) },
  largeRequests: { run: (_merchantId: string, work: () => Promise<unknown>) => work() },
} as unknown as ApiDeps;

const app = new Koa();

/** What the guard of the endpoint answers; `reached` when it lets the request through to the handler. */
function guardOf(name: string) {
  let reached = false;
  const handler = async () => {
    reached = true;
    return { data: null };
  };
  // Whom the guard lets in is another subject: it validates what a caller without a credential sends in the same way.
  const endpoint = { ...endpoints[name as EndpointName], access: 'public', audit: { not: 'is a test' } };
  // The cast: the answer of the handler is not looked at, so it needs no shape.
  const route = handler as unknown as Route<EndpointName>;
  const guard = guarded(deps, endpoint as (typeof endpoints)[EndpointName], route);
  return async ({ body = '', query = '' }: { body?: string; query?: string }) => {
    const request = new IncomingMessage(new Socket());
    const bytes = Buffer.from(body);
    Object.assign(request, { method: endpoint.method.toUpperCase(), url: `/?${query}` });
    Object.assign(request.headers, { 'content-type': 'application/json', 'content-length': String(bytes.length) });
    request.push(bytes);
    request.push(null);
    reached = false;
    try {
      await guard(app.createContext(request, new ServerResponse(request)));
      return { reached, status: 200, text: '', body: undefined };
    } catch (error) {
      const { status, body: answer } = failure(error);
      return { reached, status, text: JSON.stringify(answer), body: answer };
    }
  };
}

/** How many of these bodies have the shape of a program, so that the handler refuses them. */
const refusedByHandlers: Record<string, number> = { createProgram: 1, updateProgram: 3 };

const wrongTypes = [null, true, 7, 'text', [], {}, [[]], [null], ...operators];

describe.each(withBody)('the body of %s', (name, endpoint) => {
  const send = guardOf(name);
  const mustBeRefused = async (body: string) => {
    const answer = await send({ body });
    expectRefusal(answer, body.slice(0, 300));
    expect(answer.reached).toBe(false);
  };

  it('is refused when it has another type or contains forbidden values', async () => {
    const bodies = forbiddenBodies(name, endpoint);
    const { length } = bodies.filter((body) => hasShape(endpoint, body));
    expect(length).toBe(refusedByHandlers[name] ?? 0);
    for (const body of bodies) if (!hasShape(endpoint, body)) await mustBeRefused(body);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  it('is refused when it contains text that no screen can show', async () => {
    for (const body of brokenBodies(endpoint)) await mustBeRefused(body);
  });

  it('reaches the handler only when it is valid, whatever values its fields have', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(exampleOf(endpoint)), 'unknown'),
        fc.oneof(fc.constantFrom(...wrongTypes), fc.jsonValue(), fc.string({ unit: 'binary' })),
        async (field, value) => {
          const body = JSON.stringify({ ...exampleOf(endpoint), [field]: value });
          if (hasShape(endpoint, body)) expect(await send({ body })).toMatchObject({ reached: true });
          else await mustBeRefused(body);
        },
      ),
      { numRuns: 100, seed: 20_261_121 },
    );
  });
});

describe.each(withQuery)('the query of %s', (name, endpoint) => {
  const send = guardOf(name);
  const mustBeRefused = async (query: string) => {
    const answer = await send({ query });
    expectRefusal(answer, query.slice(0, 100));
    expect(answer.reached).toBe(false);
  };

  it('is refused with operators, repeated or unknown parameters and invalid numbers', async () => {
    const queries = [
      '$where=1',
      '__proto__=x',
      'constructor=x',
      'toString=x',
      'unknown=',
      '=x',
      ...queryNames(endpoint).flatMap((known) => [
        `${known}[$ne]=x`,
        `${known}[]=x`,
        `${known}=x&${known}=y`,
        `${known}=%00`,
        `${known}=a%0Ab`,
        ...(['page', 'pageSize', 'limit'].includes(known)
          ? ['0', '-1', '1.5', '1e3', '0x10', 'NaN', 'Infinity', '', '%20', '9'.repeat(40), '१'].map(
              (value) => `${known}=${value}`,
            )
          : []),
        ...(['enabled', 'success'].includes(known) ? ['1', 'yes', '', 'TRUE'].map((value) => `${known}=${value}`) : []),
      ]),
    ];
    for (const query of queries) await mustBeRefused(query);
  });

  it('of 10 kB is refused without delay', async () => {
    const startedAt = performance.now();
    for (const value of ['a'.repeat(10_000), 'a+'.repeat(5_000), '%F0%9F%98%80'.repeat(800)])
      for (const known of ['q', 'serial', 'programId']) await mustBeRefused(`${known}=${value}`);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });
});
