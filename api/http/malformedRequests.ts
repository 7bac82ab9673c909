// Answers what Node would answer by itself or not at all: invalid HTTP, oversized headers, requests that arrive too
// slowly, CONNECT, and an unknown Expect. Every answer has the usual envelope and an X-Request-Id
// (docs/interface.md#13-response-envelope), and is logged and counted.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Deps } from '../../platform/deps.js';
import { type ErrorCode, ServiceError } from '../../schemas/shared/errors.js';
import { newToken } from '../../schemas/shared/ids.js';
import { failure } from './answer.js';

const codeOf: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** The connection ends after these bytes: the start of the next request cannot be found. */
function bytesOf(code: ErrorCode, requestId: string, headers: readonly string[]): string {
  const { status, body } = failure(new ServiceError(code));
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${code}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-Id: ${requestId}`,
    ...headers,
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}

/** Node's own rule for HTTP/1.1; it ignores the header in HTTP/1.0. */
export const isUnmetExpectation = ({ headers, httpVersion }: IncomingMessage): boolean =>
  httpVersion === '1.1' && headers.expect !== undefined && !/(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect);

interface Refused {
  socket: Socket;
  method: 'CONNECT' | 'other';
  code: ErrorCode;
  headers?: readonly string[];
  /** Node's code of the error. */
  cause?: string | undefined;
}

/** Call this before the server listens. */
export function answerMalformedRequests(server: Server, { log, metrics }: Pick<Deps, 'log' | 'metrics'>): void {
  const answering = new WeakMap<Socket, ServerResponse>();
  server.prependListener('request', (request, answer: ServerResponse) => {
    answering.set(request.socket, answer);
    answer.once('close', () => answering.delete(request.socket));
  });

  function refuse({ socket, method, code, headers = [], cause }: Refused): void {
    const answer = answering.get(socket);
    if (answer?.req.complete) {
      // The request before it was complete; it is answered first.
      answer.once('finish', () => socket.destroySoon());
      return;
    }
    // Nothing is written into an answer that has begun: the client would read it as a part of the answer.
    if (socket.writable && cause !== 'ECONNRESET' && !answer?.headersSent) {
      const requestId = newToken(12);
      const { status } = failure(new ServiceError(code));
      socket.write(bytesOf(code, requestId, headers));
      log.info({ requestId, method, route: 'none', status, code, cause }, 'request');
      metrics.request({ method, route: 'none', status, seconds: 0 });
    }
    socket.destroySoon();
  }

  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const code = codeOf[error.code ?? ''] ?? 'MALFORMED_REQUEST';
    refuse({ socket: stream as Socket, method: 'other', code, cause: error.code });
  });
  server.on('connect', (_request, stream) => {
    const socket = stream as Socket;
    socket.on('error', () => {});
    const headers = ['Allow: GET, HEAD, POST, PATCH, DELETE'];
    refuse({ socket, method: 'CONNECT', code: 'METHOD_NOT_ALLOWED', headers });
  });
  server.on('checkExpectation', (request, answer) => server.emit('request', request, answer));
}
