// Notifies phones through APNs that a pass changed. Each push has its own answer and time limit, so a problem of one
// device affects no other. A 400 can also be a mistake of this service, which affects all devices
// (pushPhones.effect.ts).
import type { Logger } from 'pino';
import { z } from 'zod';
import { parseJson } from '../../../platform/parseJson.js';
import { type ApnsToken, createApnsToken } from './apnsToken.rules.js';
import type { RealAppleCredentials } from './credentials.rules.js';
import { createHttp2Connection, type Http2Connection } from './http2Connection.client.js';
import { type Http2Answer, Http2Failure } from './http2Exchange.client.js';

/**
 * `sent`: APNs accepted the push. `gone`: end the registration. `rejected`: a retry is pointless. `retry`: try again
 * later.
 */
export type ApnsOutcome = 'sent' | 'gone' | 'rejected' | 'retry';

export interface PushAnswer {
  pushToken: string;
  outcome: ApnsOutcome;
  /** The HTTP status of APNs; null when there was no answer. */
  status: number | null;
  /** The reason that APNs gave, or what happened to the connection. */
  reason?: string;
}

export interface Apns {
  /**
   * Returns one answer for each token, in the same order. Never rejects, and settles by `deadline` (milliseconds since
   * the epoch; default: after `timeoutMs` of the options). Sends nothing after it.
   */
  push(pushTokens: readonly string[], deadline?: number): Promise<PushAnswer[]>;
  /** When APNs last accepted a push, in milliseconds since the epoch; 0 before the first one. */
  lastAcceptedAt(): number;
  close(): Promise<void>;
}

export interface ApnsOptions {
  origin: string;
  /** PEM of the authority that signed the certificate of APNs; default: the system's authorities. */
  ca?: string | undefined;
  credentials: Pick<RealAppleCredentials, 'passTypeId' | 'signerCert' | 'signerKey' | 'apnsKey'>;
  log: Pick<Logger, 'info' | 'warn'>;
  timeoutMs?: number;
  connectTimeoutMs?: number;
  pingIntervalMs?: number;
  pingTimeoutMs?: number;
  now?: () => Date;
}

/** Apple's guide asks for an empty JSON dictionary. */
const BODY = '{}';
const MAX_TRIES = 3;

export function createApns(options: ApnsOptions): Apns {
  const { origin, ca, credentials, log, timeoutMs = 10_000, now = () => new Date() } = options;
  const token = credentials.apnsKey && createApnsToken(credentials.apnsKey);
  const connection = createHttp2Connection({
    origin,
    tls: { ...(ca && { ca }), ...(token === undefined && clientCertificate(credentials)) },
    connectTimeoutMs: options.connectTimeoutMs ?? 5000,
    pingIntervalMs: options.pingIntervalMs ?? 60_000,
    pingTimeoutMs: options.pingTimeoutMs ?? 5000,
    onEvent: (event, detail) => {
      if (event === 'connected') log.info({ origin: detail }, 'apns_connected');
      else log.warn({ reason: detail }, 'apns_disconnected');
    },
  });
  let acceptedAt = 0;
  const sender: Sender = { connection, topic: credentials.passTypeId, token, now };
  return {
    push: async (pushTokens, deadline = Date.now() + timeoutMs) => {
      const answers = await Promise.all(pushTokens.map((pushToken) => send(sender, pushToken, deadline)));
      if (answers.some(({ outcome }) => outcome === 'sent')) acceptedAt = Date.now();
      return answers;
    },
    lastAcceptedAt: () => acceptedAt,
    close: () => connection.close(),
  };
}

interface Sender {
  connection: Http2Connection;
  topic: string;
  token: ApnsToken | undefined;
  now: () => Date;
}

function clientCertificate({ signerCert, signerKey }: ApnsOptions['credentials']): { cert: string; key: string } {
  return { cert: signerCert.toString(), key: signerKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

async function send(sender: Sender, pushToken: string, deadline: number, tries = 1): Promise<PushAnswer> {
  const bearer = sender.token?.current(sender.now());
  try {
    const answer = await sender.connection.request(headers(sender.topic, pushToken, bearer), BODY, deadline);
    const pushed = judge(pushToken, answer);
    if (pushed.reason === 'Shutdown') sender.connection.renew();
    if (pushed.reason !== 'ExpiredProviderToken' || bearer === undefined || tries > 1) return pushed;
    sender.token?.expire(bearer);
  } catch (error) {
    const failure = error instanceof Http2Failure ? error : new Http2Failure('unreachable', String(error));
    // A kept connection often turns out to be dead only when it is used. A repeated push has no second effect, so it is
    // sent again at once.
    if (failure.kind !== 'lost' || tries >= MAX_TRIES) {
      return { pushToken, outcome: 'retry', status: null, reason: failure.message };
    }
  }
  return send(sender, pushToken, deadline, tries + 1);
}

function headers(topic: string, pushToken: string, bearer: string | undefined): Record<string, string> {
  return {
    ':method': 'POST',
    // A push token is any text that a phone registered. It is encoded so that it cannot change the rest of the path.
    ':path': `/3/device/${encodeURIComponent(pushToken.toWellFormed())}`,
    'apns-topic': topic,
    'apns-priority': '10',
    'content-type': 'application/json',
    ...(bearer && { authorization: `bearer ${bearer}` }),
  };
}

/** The body of an answer other than 200. */
const refusal = z.object({ reason: z.string() });

function judge(pushToken: string, answer: Http2Answer): PushAnswer {
  const { status } = answer;
  if (status === 200) return { pushToken, outcome: 'sent', status };
  const reason = refusal.safeParse(parseJson(answer.body)).data?.reason;
  const base = { pushToken, status, ...(reason && { reason }) };
  if (status === 410) return { ...base, outcome: 'gone' };
  return { ...base, outcome: status === 429 || status >= 500 ? 'retry' : 'rejected' };
}
