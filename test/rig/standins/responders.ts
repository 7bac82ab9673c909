// Behaviours (responders) of receivers, from good to hostile. Each call makes a new one with its own counters.
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Responder } from './receiver.js';

export const ok = (): Responder => (_request, answer) => answer.writeHead(204).end();

export const status =
  (statusCode: number, headers: Record<string, string> = {}, body = ''): Responder =>
  (_request, answer) =>
    answer.writeHead(statusCode, headers).end(body);

/** Answers `failures` requests with 500 and all later ones with 204. */
export function failThenOk(failures: number): Responder {
  let left = failures;
  return (request, answer) => {
    left -= 1;
    (left >= 0 ? status(500) : ok())(request, answer);
  };
}

export const redirect = (location: string, statusCode = 302): Responder => status(statusCode, { location });
export const gone = (): Responder => status(410);
export const tooMany = (retryAfter: string): Responder => status(429, { 'retry-after': retryAfter });

/** Answers 204 after `ms`. */
export const slow =
  (ms: number): Responder =>
  (_request, answer) => {
    setTimeout(() => answer.writeHead(204).end(), ms);
  };

/** Accepts the request and never answers. */
export const hang = (): Responder => () => {};

/** Sends a status line at once, then one byte of body every `everyMs`, without end. */
export const drip =
  (everyMs: number, statusCode = 200): Responder =>
  (_request, answer) => {
    answer.writeHead(statusCode);
    const timer = setInterval(() => answer.write('.'), everyMs);
    answer.on('close', () => clearInterval(timer));
  };

/** Sends the status line, then one header every `everyMs`, so the headers never end. */
export const dripHeaders =
  (everyMs: number): Responder =>
  (_request, answer) => {
    answer.socket?.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => answer.socket?.write('x-a: b\r\n'), everyMs);
    answer.socket?.on('close', () => clearInterval(timer));
  };

/** Sends body bytes as long as the client reads. */
export const endlessBody =
  (statusCode = 200): Responder =>
  (_request, answer) => {
    answer.writeHead(statusCode);
    pourInto(answer, Buffer.alloc(65_536, 'x'));
  };

/** Sends 50 KB of gzip that expand to 50 MB, although the request asked for identity encoding. */
export function gzipBomb(): Responder {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  return (_request, answer) => answer.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
}

/** Reads the request and resets the connection. */
export const reset = (): Responder => (_request, answer) => {
  answer.socket?.resetAndDestroy();
};

/** Sends `text` instead of an HTTP response. */
export const raw =
  (text: string): Responder =>
  (_request, answer) => {
    answer.socket?.end(text);
  };

function pourInto(answer: ServerResponse, chunk: Buffer): void {
  if (answer.destroyed) return;
  answer.write(chunk, () => setImmediate(pourInto, answer, chunk));
}
