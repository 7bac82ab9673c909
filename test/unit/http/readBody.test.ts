// Reads bodies of any bytes: JSON and forms in UTF-8 are read, everything else is refused with its code, and nothing is
// stored with replacement characters.
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import Koa from 'koa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure } from '../../../api/http/answer.js';
import { readBody } from '../../../api/http/readBody.js';
import corpus from '../../corpora/json.json' with { type: 'json' };

let server: Server;
let url: string;

beforeAll(async () => {
  const app = new Koa();
  app.use(async (ctx) => {
    try {
      ctx.body = { read: (await readBody(ctx, { form: ctx.path === '/form' })) ?? null };
    } catch (error) {
      const { status, body } = failure(error);
      ctx.status = status;
      ctx.body = body;
    }
  });
  server = createServer(app.callback());
  // The server does not close it while it is idle, because a request on a closing connection would fail.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function send(body: Uint8Array | string, type = 'application/json', path = '/') {
  const bytes = typeof body === 'string' ? body : new Uint8Array(body);
  const answer = await fetch(url + path, { method: 'POST', body: bytes, headers: { 'Content-Type': type } });
  const { read, error } = (await answer.json()) as { read?: unknown; error?: { code: string } };
  return { status: answer.status, read, code: error?.code };
}
const form = 'application/x-www-form-urlencoded';
const malformed = { status: 400, code: 'MALFORMED_JSON' };
const invalid = { status: 400, code: 'VALIDATION_FAILED' };
const unsupported = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' };

/** The result of an independent reader: UTF-8 byte by byte, then JSON. */
function expected(bytes: Buffer): Record<string, unknown> {
  if (bytes.length === 0) return { status: 200, read: null };
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) return malformed;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    // JSON that the server wrote: -0 becomes 0, and infinity becomes null.
    return isObject ? { status: 200, read: JSON.parse(JSON.stringify(value)) } : invalid;
  } catch {
    return malformed;
  }
}

/** In chunks, so without a length. */
const sendChunks = (chunks: string[], headers: Record<string, string> = {}): Promise<unknown[]> =>
  new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', headers: { ...headers, 'Transfer-Encoding': 'chunked' } });
    call.on('error', reject).on('response', async (answer) => {
      const { read, error } = JSON.parse((await answer.toArray()).join(''));
      resolve([answer.statusCode, error?.code ?? read]);
    });
    for (const chunk of chunks) call.write(chunk);
    call.end();
  });

describe('a body of unknown length', () => {
  it.each([
    [{}],
    [{ 'Content-Type': 'application/json' }],
    [{ 'Content-Type': 'text/plain' }],
    [{ 'Content-Type': 'application/json; charset=utf-16' }],
    [{ 'Content-Encoding': 'gzip' }],
  ])('that is empty is no body, with the headers %j', async (headers) => {
    expect(await sendChunks([], headers as Record<string, string>)).toEqual([200, null]);
  });

  it('that is not empty needs its type', async () => {
    for (const chunks of [['{}'], ['{"name":', '"Ada"}'], ['x'.repeat(300_000)]])
      expect(await sendChunks(chunks)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(await sendChunks(['{"name":', '"Ada"}'], { 'Content-Type': 'application/json' })).toEqual([
      200,
      { name: 'Ada' },
    ]);
  });
});

describe('a JSON body', () => {
  it.each(Object.entries(corpus))(
    '%s of the parsing corpus is read, or refused with its code',
    async (name, base64) => {
      const bytes = Buffer.from(base64, 'base64');
      const answer = await send(bytes);
      expect(answer).toMatchObject(expected(bytes));
      if (name.startsWith('n_') && bytes.length > 0) expect(answer.code).toBe('MALFORMED_JSON');
      if (name.startsWith('y_')) expect([200, 'VALIDATION_FAILED']).toContain(answer.code ?? answer.status);
    },
  );

  it.each(['7', '"text"', 'true', 'null', '[]', '[{}]', '-0.0', ' 1 '])('%s is no object', async (text) => {
    expect(await send(text)).toMatchObject(invalid);
  });

  it('of any bytes never ends in anything but an object, a 400 or a 415', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.json().map((text) => Buffer.from(text)),
      fc.tuple(fc.uint8Array({ maxLength: 4 }), fc.json()).map(([broken, text]) => {
        const whole = Buffer.from(`{"name":${text}}`);
        return Buffer.concat([whole.subarray(0, whole.length / 2), broken, whole.subarray(whole.length / 2)]);
      }),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (given) => {
        expect(await send(given)).toMatchObject(expected(Buffer.from(given)));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    'application/json; charset=UTF-16LE',
    'application/json; charset="windows-1252"',
    'application/json; charset=nonsense',
  ])('declared as %s is refused, also when its bytes are UTF-8', async (type) => {
    expect(await send('{"name":"Ada"}', type)).toMatchObject(unsupported);
    expect(await send('name=Ada', type.replace('application/json', form), '/form')).toMatchObject(unsupported);
  });

  it.each(['application/json; charset=utf-8', 'application/json;charset="UTF8"', 'application/vnd.api+json'])(
    'declared as %s is read',
    async (type) => {
      expect(await send('{"name":"Zoë"}', type)).toMatchObject({ status: 200, read: { name: 'Zoë' } });
    },
  );

  it('over 100 KB is refused, whether it says its length or not', async () => {
    const large = JSON.stringify({ name: 'x'.repeat(102_400) });
    expect(await send(large)).toMatchObject({ status: 413, code: 'BODY_TOO_LARGE' });
    const streamed = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: new Blob([large]).stream(),
      // Node's fetch requires this option for a stream; the types lack it.
      ...({ duplex: 'half' } as object),
    });
    expect(streamed.status).toBe(413);
  });
});

describe('a form', () => {
  const read = (text: string | Uint8Array) => send(text, form, '/form');

  it('is read in UTF-8; a repeated field is a list', async () => {
    expect(await read('a=Zo%C3%AB+B&b=1&b=2&c=100%&d')).toMatchObject({
      status: 200,
      read: { a: 'Zoë B', b: ['1', '2'], c: '100%', d: '' },
    });
  });

  it.each(['a=%FF', 'a=%C3', '%E9=x', 'a=%ED%A0%80'])('with %s, which is not UTF-8, is refused', async (text) => {
    expect(await read(text)).toMatchObject(invalid);
  });

  it('of bytes that are not UTF-8 is refused', async () => {
    expect(await read(Buffer.from('a=Zo\xeb', 'latin1'))).toMatchObject(invalid);
  });

  it('of any bytes is read or refused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 80 }),
          fc.webQueryParameters().map((text) => Buffer.from(text)),
        ),
        async (given) => {
          const { status, read: fields } = await read(given);
          expect([200, 400]).toContain(status);
          expect(JSON.stringify(fields ?? {})).not.toContain('\uFFFD');
        },
      ),
      { numRuns: 200 },
    );
  });
});
