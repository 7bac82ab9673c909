// How receivers behave, from good to hostile. Each is made fresh, so that what it counts is its own.
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Temper } from './receiver.js';

export const ok = (): Temper => (_request, answer) => answer.writeHead(204).end();

export const status =
  (statusCode: number, headers: Record<string, string> = {}, body = ''): Temper =>
  (_request, answer) =>
    answer.writeHead(statusCode, headers).end(body);

/** `failures` answers of 500, then 204 for ever. */
export function failThenOk(failures: number): Temper {
  let left = failures;
  return (request, answer) => {
    left -= 1;
    (left >= 0 ? status(500) : ok())(request, answer);
  };
}

export const redirect = (location: string, statusCode = 302): Temper => status(statusCode, { location });
export const gone = (): Temper => status(410);
export const tooMany = (retryAfter: string): Temper => status(429, { 'retry-after': retryAfter });

/** 204 after `ms`. */
export const slow =
  (ms: number): Temper =>
  (_request, answer) => {
    setTimeout(() => answer.writeHead(204).end(), ms);
  };

/** Takes the request and never answers. */
export const hang = (): Temper => () => {};

/** A status line at once, then one byte of body every `everyMs`, for ever. */
export const drip =
  (everyMs: number, statusCode = 200): Temper =>
  (_request, answer) => {
    answer.writeHead(statusCode);
    const timer = setInterval(() => answer.write('.'), everyMs);
    answer.on('close', () => clearInterval(timer));
  };

/** As `drip`, but of the status line itself: an answer that never quite begins. */
export const dripHeaders =
  (everyMs: number): Temper =>
  (_request, answer) => {
    answer.socket?.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => answer.socket?.write('x-a: b\r\n'), everyMs);
    answer.socket?.on('close', () => clearInterval(timer));
  };

/** As much body as the other side takes. */
export const endlessBody =
  (statusCode = 200): Temper =>
  (_request, answer) => {
    answer.writeHead(statusCode);
    pourInto(answer, Buffer.alloc(65_536, 'x'));
  };

/** 50 KB that would be 50 MB, said to be gzip although the request asked for identity. */
export function gzipBomb(): Temper {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  return (_request, answer) => answer.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
}

/** Reads the request and resets the connection. */
export const reset = (): Temper => (_request, answer) => {
  answer.socket?.resetAndDestroy();
};

/** `text` in place of an HTTP answer. */
export const raw =
  (text: string): Temper =>
  (_request, answer) => {
    answer.socket?.end(text);
  };

function pourInto(answer: ServerResponse, chunk: Buffer): void {
  if (answer.destroyed) return;
  answer.write(chunk, () => setImmediate(pourInto, answer, chunk));
}
