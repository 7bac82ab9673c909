// Answers requests that Node refuses before they reach a route: invalid HTTP, oversized headers, requests that arrive
// too slowly. The answer has the usual envelope (docs/interface.md#13-response-envelope). The connection ends, because
// the start of the next request cannot be found.
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, ServiceError } from '../schemas/errors.js';
import { newToken } from '../schemas/ids.js';
import { failure } from './envelope.js';

const codeOf: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

function bytesOf(code: ErrorCode): string {
  const { status, body } = failure(new ServiceError(code));
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${code}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-Id: ${newToken(12)}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}

/** Call this before the server listens. */
export function answerMalformedRequests(server: Server): void {
  const answering = new WeakMap<Socket, ServerResponse>();
  server.prependListener('request', (request, answer: ServerResponse) => {
    answering.set(request.socket, answer);
    answer.once('close', () => answering.delete(request.socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const answer = answering.get(socket);
    if (answer?.req.complete) {
      // The request before the invalid bytes was complete; it is answered first.
      answer.once('finish', () => socket.destroySoon());
      return;
    }
    // Once an answer has begun, nothing else is written: the client would take it for a part of the answer.
    const silent = !socket.writable || error.code === 'ECONNRESET' || answer?.headersSent;
    if (!silent) socket.write(bytesOf(codeOf[error.code ?? ''] ?? 'MALFORMED_REQUEST'));
    socket.destroySoon();
  });
}
