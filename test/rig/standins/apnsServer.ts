// A stand-in for APNs: an HTTP/2 server with TLS. It checks the topic, the certificate or provider token, and the size
// and form of the payload as Apple does. It then gives the answer that the test configured for the device, and calls
// the listener of the push token.
import { createPublicKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import {
  constants,
  createSecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { errors, jwtVerify } from 'jose';
import type { AppleCertificates } from './appleCertificates.js';

/**
 * `hang`: never answers. `reset`: resets the stream. `drop`: cuts the connection. `goaway`: sends GOAWAY on the
 * connection.
 */
export type ApnsAnswer = { status: number; reason?: string; delayMs?: number } | 'hang' | 'reset' | 'drop' | 'goaway';

type ForbiddenReason = 'MissingProviderToken' | 'InvalidProviderToken' | 'ExpiredProviderToken' | 'BadCertificate';

export interface RecordedPush {
  pushToken: string;
  at: Date;
  headers: IncomingHttpHeaders;
  body: string;
  /** How the sender authenticated, or the reason of the 403 answer. */
  provedBy: 'certificate' | 'token' | ForbiddenReason;
  /** The number of the connection; the server's first connection is 1. */
  connection: number;
  /** The status of the answer, or what happened instead of an answer. */
  answered: number | string;
}

export interface ApnsServer {
  origin: string;
  /** PEM of the certificate authority that a client must trust. */
  ca: string;
  pushes: RecordedPush[];
  /**
   * Sets the answers to the next pushes to a device, in order; the last one is repeated. Without a call the answer is
   * 200.
   */
  answer(pushToken: string, ...answers: ApnsAnswer[]): void;
  /** Calls `onPush` with the topic of each push that is accepted for the token. Returns a function that ends this. */
  listen(pushToken: string, onPush: (topic: string) => void): () => void;
  connectionCount(): number;
  /** The largest number of streams that were open at the same time on one connection. */
  peakStreams(): number;
  /** Cuts all open connections without GOAWAY. */
  dropConnections(): void;
  close(): Promise<void>;
}

export interface ApnsServerOptions {
  /** Default: 127.0.0.1. */
  host?: string;
  port?: number;
  maxConcurrentStreams?: number;
  /**
   * The stream limit after the first accepted push; APNs raises the limit in this way for senders with a provider
   * token.
   */
  thenMaxConcurrentStreams?: number;
}

const MAX_TOKEN_AGE_SECONDS = 3600;
const MAX_PAYLOAD = 4096;

const OK: ApnsAnswer = { status: 200 };
const refuse = (status: number, reason: string): ApnsAnswer => ({ status, reason });

export async function startApnsServer(
  certificates: AppleCertificates,
  options: ApnsServerOptions = {},
): Promise<ApnsServer> {
  const pushes: RecordedPush[] = [];
  const scripts = new Map<string, ApnsAnswer[]>();
  const listeners = new Map<string, Set<(topic: string) => void>>();
  const sessions = new Map<Http2Session, { number: number; open: number }>();
  let connections = 0;
  let peak = 0;
  const { maxConcurrentStreams = 1000, thenMaxConcurrentStreams } = options;
  const server = createSecureServer({
    ...certificates.server,
    ca: certificates.wwdrCert,
    requestCert: true,
    rejectUnauthorized: false,
    settings: { maxConcurrentStreams },
  });

  server.on('session', (session) => {
    connections += 1;
    sessions.set(session, { number: connections, open: 0 });
    session.on('error', () => undefined);
    session.on('close', () => sessions.delete(session));
  });

  const nextAnswer = (pushToken: string): ApnsAnswer => {
    const script = scripts.get(pushToken);
    if (script === undefined) return OK;
    return (script.length > 1 ? script.shift() : script[0]) ?? OK;
  };

  const receive = async (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const session = stream.session;
    const seen = session && sessions.get(session);
    if (session === undefined || seen === undefined) return;
    const at = new Date();
    let body = '';
    stream.setEncoding('utf8');
    for await (const text of stream) body += text;
    const provedBy = await proof(certificates, session, headers);
    const pushToken = decodeURIComponent(String(headers[':path']).replace('/3/device/', ''));
    const answer = refusal(certificates, headers, body, provedBy) ?? nextAnswer(pushToken);
    const answered = typeof answer === 'string' ? answer : answer.status;
    pushes.push({ pushToken, at, headers, body, provedBy, connection: seen.number, answered });
    await respond(stream, session, answer);
    if (answered !== 200) return;
    if (thenMaxConcurrentStreams !== undefined && session.localSettings.maxConcurrentStreams === maxConcurrentStreams) {
      session.settings({ maxConcurrentStreams: thenMaxConcurrentStreams });
    }
    for (const onPush of listeners.get(pushToken) ?? []) onPush(String(headers['apns-topic']));
  };

  server.on('stream', (stream, headers) => {
    const seen = stream.session && sessions.get(stream.session);
    if (seen !== undefined) {
      seen.open += 1;
      peak = Math.max(peak, seen.open);
      stream.on('close', () => {
        seen.open -= 1;
      });
    }
    stream.on('error', () => undefined);
    receive(stream, headers).catch(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  });

  const { host = '127.0.0.1' } = options;
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('the APNs stand-in has no port');

  return {
    origin: `https://${host}:${address.port}`,
    ca: certificates.server.cert,
    pushes,
    answer: (pushToken, ...answers) => {
      scripts.set(pushToken, answers);
    },
    listen: (pushToken, onPush) => {
      const heard = listeners.get(pushToken) ?? new Set();
      listeners.set(pushToken, heard.add(onPush));
      return () => {
        heard.delete(onPush);
      };
    },
    connectionCount: () => connections,
    peakStreams: () => peak,
    dropConnections: () => {
      for (const session of sessions.keys()) session.destroy();
    },
    close: async () => {
      for (const session of sessions.keys()) session.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

async function proof(
  certificates: AppleCertificates,
  session: Http2Session,
  headers: IncomingHttpHeaders,
): Promise<RecordedPush['provedBy']> {
  const [scheme, token] = (headers.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() === 'bearer' && token !== undefined) {
    try {
      const { protectedHeader } = await jwtVerify(token, createPublicKey(certificates.apnsKey), {
        algorithms: ['ES256'],
        issuer: certificates.teamId,
        maxTokenAge: MAX_TOKEN_AGE_SECONDS,
      });
      return protectedHeader.kid === certificates.apnsKeyId ? 'token' : 'InvalidProviderToken';
    } catch (error) {
      return error instanceof errors.JWTExpired ? 'ExpiredProviderToken' : 'InvalidProviderToken';
    }
  }
  const { socket } = session;
  if (!(socket instanceof TLSSocket) || !socket.authorized) return 'MissingProviderToken';
  const { subject } = new X509Certificate(socket.getPeerCertificate().raw);
  return subject.split('\n').includes(`UID=${certificates.passTypeId}`) ? 'certificate' : 'BadCertificate';
}

/** The errors that APNs reports before it looks at the device. */
function refusal(
  certificates: AppleCertificates,
  headers: IncomingHttpHeaders,
  body: string,
  provedBy: RecordedPush['provedBy'],
): ApnsAnswer | undefined {
  if (headers[':method'] !== 'POST') return refuse(405, 'MethodNotAllowed');
  if (!/^\/3\/device\/[^/]+$/.test(String(headers[':path']))) return refuse(404, 'BadPath');
  if (provedBy !== 'certificate' && provedBy !== 'token') return refuse(403, provedBy);
  if (headers['apns-topic'] !== certificates.passTypeId) return refuse(400, 'TopicDisallowed');
  if (body === '') return refuse(400, 'PayloadEmpty');
  if (Buffer.byteLength(body) > MAX_PAYLOAD) return refuse(413, 'PayloadTooLarge');
  return undefined;
}

async function respond(stream: ServerHttp2Stream, session: Http2Session, answer: ApnsAnswer): Promise<void> {
  if (answer === 'hang') return;
  if (answer === 'reset') return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  if (answer === 'drop') return session.destroy();
  if (answer === 'goaway') {
    // The last stream id in GOAWAY is below this stream, so this stream and all later ones count as not processed.
    session.goaway(constants.NGHTTP2_NO_ERROR, Math.max(0, (stream.id ?? 2) - 2), Buffer.from('{"reason":"Shutdown"}'));
    return session.close();
  }
  if (answer.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
  if (stream.destroyed) return;
  stream.respond({ ':status': answer.status, 'apns-id': crypto.randomUUID() });
  stream.end(answer.status === 200 ? undefined : JSON.stringify({ reason: answer.reason ?? 'Unknown' }));
}
