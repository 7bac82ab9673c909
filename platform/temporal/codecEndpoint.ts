// The codec endpoint: decrypts payloads for operators in Temporal's UI or CLI. It answers only to TEMPORAL_CODEC_TOKEN,
// as `Authorization: Bearer` (the CLI's --codec-auth) or as the password of a basic login, which a browser remembers
// after the operator has opened the endpoint once. Pages of other origins than TEMPORAL_CODEC_ORIGIN cannot read an
// answer.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import proto from '@temporalio/proto';
import { z } from 'zod';
import type { Config } from '../../schemas/shared/config.schema.js';
import { createPayloadCodec } from './payloadCodec.js';

export const codecPath = '/codec';

/** Twice the size of a page of a history in Temporal. */
const maxBodyBytes = 8 * 1_048_576;

/** Temporal reads the payloads themselves. */
const request = z.object({ payloads: z.array(z.unknown()) });
const { Payloads } = proto.temporal.api.common.v1;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function isAuthorized({ headers }: IncomingMessage, token: string): boolean {
  const [scheme = '', credentials = ''] = headers.authorization?.split(' ') ?? [];
  const given =
    scheme.toLowerCase() === 'basic'
      ? Buffer.from(credentials, 'base64')
          .toString('utf8')
          .replace(/^[^:]*:/, '')
      : credentials;
  return /^(basic|bearer)$/i.test(scheme) && timingSafeEqual(digest(given), digest(token));
}

async function bodyOf(asked: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of asked) {
    size += chunk.length;
    if (size > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Undefined unless both TEMPORAL_CODEC_KEY and TEMPORAL_CODEC_TOKEN are set. */
export function createCodecEndpoint(config: Config): RequestListener | undefined {
  const { TEMPORAL_CODEC_KEY: key, TEMPORAL_CODEC_TOKEN: token, TEMPORAL_CODEC_ORIGIN: allowedOrigin } = config;
  if (key === undefined || token === undefined) return undefined;
  const codec = createPayloadCodec(key);

  async function answer(asked: IncomingMessage, reply: ServerResponse): Promise<void> {
    const say = (status: number, text: string) => {
      reply.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${text}\n`);
    };
    const { method, url = '', headers } = asked;
    reply.setHeader('Vary', 'Origin');
    reply.setHeader('Cache-Control', 'no-store');
    if (headers.origin !== undefined && headers.origin === allowedOrigin) {
      reply.setHeader('Access-Control-Allow-Origin', headers.origin);
      reply.setHeader('Access-Control-Allow-Credentials', 'true');
      reply.setHeader('Access-Control-Allow-Methods', 'POST');
      reply.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, X-Namespace');
    } else if (headers['sec-fetch-site'] === 'cross-site' || headers.origin !== undefined) {
      return say(403, 'This origin is not TEMPORAL_CODEC_ORIGIN.');
    }
    if (method === 'OPTIONS') return void reply.writeHead(204).end();
    if (!isAuthorized(asked, token ?? '')) {
      reply.setHeader('WWW-Authenticate', 'Basic realm="Temporal codec"');
      return say(401, 'The password is TEMPORAL_CODEC_TOKEN; any user name will do.');
    }
    if (url === codecPath && method === 'GET')
      return say(200, 'You are signed in: this browser may decode payloads now.');
    if (url !== `${codecPath}/decode` || method !== 'POST') return say(404, `There is only POST ${codecPath}/decode.`);

    const body = await bodyOf(asked);
    if (body === null) return say(413, 'Too many payloads at once.');
    try {
      const { payloads } = Payloads.fromObject(request.parse(JSON.parse(body)));
      const decoded = JSON.stringify(Payloads.create({ payloads: await codec.decode(payloads) }));
      reply.writeHead(200, { 'Content-Type': 'application/json' }).end(decoded);
    } catch (error) {
      const isForeign = error instanceof Error && error.message.startsWith('A payload is encrypted with key');
      say(400, isForeign ? error.message : 'These are no payloads that this service has encrypted.');
    }
  }

  return (asked, reply) => {
    // The connection broke while the body was read, so no client waits for an answer.
    answer(asked, reply).catch(() => reply.destroy());
  };
}
