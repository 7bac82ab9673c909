// The OpenAPI document over HTTP.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../api/openapi/document.view.js';
import { documentRoutes } from '../../../api/openapi/openapi.routes.js';
import { readConfig } from '../../../schemas/shared/config.schema.js';

const publicUrl = 'https://loyalty.example.com';
let server: Server;
let url: string;

beforeAll(async () => {
  const config = readConfig({
    PUBLIC_URL: publicUrl,
    CONSOLE_JWT_SECRET: 'x'.repeat(32),
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  });
  const app = new Koa();
  app.use(documentRoutes({ config }).routes());
  app.silent = true;
  server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const get = (path: string) => fetch(`${url}${path}`, { redirect: 'manual' });

describe('the document', () => {
  it('is served with the public URL, and with 304 to a client that has it', async () => {
    const answer = await get('/api/v1/openapi.json');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument({ publicUrl }))));
    const etag = answer.headers.get('etag') ?? '';
    // Not with fetch, which adds a header that bypasses caches.
    const again = await request(`${url}/api/v1/openapi.json`, { headers: { 'If-None-Match': etag } });
    expect([again.statusCode, (await again.body.text()).length]).toEqual([304, 0]);
  });
});
