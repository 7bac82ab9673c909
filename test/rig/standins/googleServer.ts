// A stand-in for Google on loopback: the OAuth token endpoint, the wallet API with its batch endpoint and its limit of
// 20 requests a second, and the root keys of callbacks. It applies Google's rules to each caller and produces the
// faults that a test requests.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jwtVerify } from 'jose';
import { createGoogleRules, fail, type GoogleAnswer, type GoogleRules } from './googleRules.js';
import { createGoogleSigner, type GoogleSigner } from './googleSigner.js';
import { newKeyPair } from './keyPairs.js';

export type GoogleRequestKind =
  | 'token'
  | 'keys'
  | 'batch'
  | 'classGet'
  | 'classInsert'
  | 'classUpdate'
  | 'objectGet'
  | 'objectList'
  | 'objectInsert'
  | 'objectUpdate'
  | 'addMessage'
  | 'unknown';

export interface GoogleFault {
  on?: GoogleRequestKind;
  /**
   * `hang`: no answer. `stall`: headers, then nothing. `reset`: the connection is cut. `lost`: the request is
   * processed, but the connection is cut before the answer.
   */
  how: 'hang' | 'stall' | 'reset' | 'lost' | { status: number; reason?: string };
  times?: number;
}

export interface GoogleServer {
  origin: string;
  issuerId: string;
  clientEmail: string;
  /** The service's settings for this server instead of Google. */
  settings: { GOOGLE_WALLET_ISSUER_ID: string; GOOGLE_WALLET_CREDENTIALS: string; GOOGLE_WALLET_ORIGIN: string };
  /** The public key of the service account; verifies save links. */
  accountKey: KeyObject;
  rules: GoogleRules;
  signer: GoogleSigner;
  requests: { at: number; kind: GoogleRequestKind; status: number }[];
  /** The Cache-Control header of the root keys document; null sends no header. */
  keysCacheControl: string | null;
  fail: (fault: GoogleFault) => void;
  /** Ends all faults and cuts hanging connections. */
  mend: () => void;
  /** Makes all access tokens that were issued so far invalid. */
  revokeTokens: () => void;
  close: () => Promise<void>;
}

const scope = 'https://www.googleapis.com/auth/wallet_object.issuer';
const requestsPerSecond = 20;

export async function startGoogleServer(
  options: { issuerId?: string; now?: () => number; port?: number; privateKey?: KeyObject } = {},
): Promise<GoogleServer> {
  const { issuerId = '3388000000012345678', now = Date.now } = options;
  const privateKey = options.privateKey ?? newKeyPair('rsa').privateKey;
  const account = { privateKey, publicKey: createPublicKey(privateKey) };
  const clientEmail = 'passes@loyalty.iam.gserviceaccount.com';
  const rules = createGoogleRules(issuerId, now);
  const signer = createGoogleSigner(issuerId, now);
  const faults: (GoogleFault & { left: number })[] = [];
  const hanging = new Set<IncomingMessage['socket']>();
  let tokens = new Set<string>();
  let recent: number[] = [];

  // Longer than any pause of this process, after which the client may still send on an idle connection.
  const http = createServer({ keepAliveTimeout: 240_000 }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const tokenUri = `${origin}/token`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request);
    const { pathname: path, searchParams } = new URL(request.url ?? '/', origin);
    const kind = kindOf(request.method ?? '', path);
    const entry = { at: performance.now(), kind, status: 0 };
    server.requests.push(entry);
    const how = takeFault(kind);
    if (how === 'hang' || how === 'stall') hanging.add(request.socket);
    if (how === 'hang') return;
    if (how === 'reset') return void request.socket.destroy();
    if (how === 'stall') return void response.writeHead(200, { 'content-length': '1000' }).write('{');
    const { status, body, headers } =
      typeof how === 'object'
        ? { ...fail(how.status, how.reason ?? 'backendError', 'As the test asked.'), headers: {} }
        : await act(kind, request, { path, query: searchParams, text });
    if (how === 'lost') return void request.socket.destroy();
    entry.status = status;
    const isText = typeof body === 'string';
    response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8', ...headers });
    response.end(isText ? body : JSON.stringify(body));
  }

  type Reply = GoogleAnswer & { headers: Record<string, string> };

  interface Asked {
    path: string;
    query: URLSearchParams;
    text: string;
  }

  async function act(kind: GoogleRequestKind, request: IncomingMessage, { path, query, text }: Asked): Promise<Reply> {
    if (kind === 'token') return { ...(await giveToken(text)), headers: {} };
    if (kind === 'keys') {
      const control = server.keysCacheControl;
      const headers: Record<string, string> = control === null ? {} : { 'cache-control': control };
      return { status: 200, body: signer.published(), headers };
    }
    if (!tokens.has((request.headers.authorization ?? '').replace(/^Bearer /, ''))) {
      return { ...fail(401, 'authError', 'Invalid Credentials'), headers: {} };
    }
    const second = performance.now() - 1_000;
    recent = recent.filter((at) => at > second);
    if (recent.length >= requestsPerSecond) return { ...fail(429, 'rateLimitExceeded', 'Rate exceeded.'), headers: {} };
    recent.push(performance.now());
    if (kind === 'batch') return runBatch(request.headers['content-type'] ?? '', text);
    return { ...rules.handle(request.method ?? '', path, parseJson(text), query), headers: {} };
  }

  async function giveToken(text: string): Promise<GoogleAnswer> {
    const form = new URLSearchParams(text);
    const refuse = (why: string) => ({ status: 400, body: { error: 'invalid_grant', error_description: why } });
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return refuse('Unknown grant type.');
    try {
      const checks = { issuer: clientEmail, audience: tokenUri, algorithms: ['RS256'], requiredClaims: ['exp', 'iat'] };
      const { payload } = await jwtVerify(form.get('assertion') ?? '', account.publicKey, checks);
      if (payload.scope !== scope) return refuse('Wrong scope.');
    } catch (error) {
      return refuse(error instanceof Error ? error.message : 'Invalid JWT.');
    }
    const token = `ya29.${crypto.randomUUID()}`;
    tokens.add(token);
    return { status: 200, body: { access_token: token, expires_in: 3_599, token_type: 'Bearer' } };
  }

  /**
   * A whole batch counts as one request against the limit. This was observed at Google; Google does not document it.
   */
  function runBatch(contentType: string, text: string): Reply {
    const boundary = /multipart\/mixed;.*boundary="?([^";]+)/i.exec(contentType)?.[1];
    if (boundary === undefined) return { ...fail(400, 'invalid', 'Not a batch.'), headers: {} };
    const parts = text.split(`--${boundary}`).slice(1, -1);
    const answers = parts.map((part) => {
      const [head = '', requestHead = '', ...body] = part.trim().split(/\r?\n\r?\n/);
      const [method = '', path = ''] = requestHead.split(/\s+/);
      const done = rules.handle(method, path, parseJson(body.join('\r\n\r\n')));
      const id = /Content-ID:\s*<([^>]*)>/i.exec(head)?.[1];
      const idLine = id === undefined ? '' : `Content-ID: <response-${id}>\r\n`;
      const top = `--batch_answer\r\nContent-Type: application/http\r\n${idLine}\r\n`;
      return `${top}HTTP/1.1 ${done.status} Status\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(done.body)}\r\n`;
    });
    // Google guarantees no order of the answers in a batch, so this server reverses them.
    const body = `${answers.reverse().join('')}--batch_answer--\r\n`;
    return { status: 200, body, headers: { 'content-type': 'multipart/mixed; boundary=batch_answer' } };
  }

  function takeFault(kind: GoogleRequestKind): GoogleFault['how'] | undefined {
    const fault = faults.find((each) => each.left > 0 && (each.on ?? kind) === kind);
    if (fault !== undefined) fault.left -= 1;
    return fault?.how;
  }

  const server: GoogleServer = {
    origin,
    issuerId,
    clientEmail,
    settings: {
      GOOGLE_WALLET_ISSUER_ID: issuerId,
      GOOGLE_WALLET_CREDENTIALS: JSON.stringify({
        type: 'service_account',
        client_email: clientEmail,
        private_key: account.privateKey.export({ format: 'pem', type: 'pkcs8' }),
        token_uri: tokenUri,
      }),
      GOOGLE_WALLET_ORIGIN: origin,
    },
    accountKey: account.publicKey,
    rules,
    signer,
    requests: [],
    keysCacheControl: 'public, max-age=3600',
    fail: (fault) => faults.push({ ...fault, left: fault.times ?? 1 }),
    mend: () => {
      faults.length = 0;
      for (const socket of hanging) socket.destroy();
      hanging.clear();
    },
    revokeTokens: () => {
      tokens = new Set();
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

function kindOf(method: string, path: string): GoogleRequestKind {
  if (path === '/token' && method === 'POST') return 'token';
  if (path === '/gp/m/issuer/keys') return 'keys';
  if (path === '/batch' && method === 'POST') return 'batch';
  if (/\/addmessage$/i.test(path)) return 'addMessage';
  const noun = /^\/walletobjects\/v1\/loyalty(class|object)/i.exec(path)?.[1]?.toLowerCase();
  if (noun !== 'class' && noun !== 'object') return 'unknown';
  if (method === 'GET' && noun === 'object' && /\/loyaltyobject$/i.test(path)) return 'objectList';
  if (method === 'GET') return `${noun}Get`;
  return method === 'POST' ? `${noun}Insert` : `${noun}Update`;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
