// Hears the status line of an answer below undici's parser, which refuses a head that it finds too long or broken, and
// ends the connection at an unasked `100 Continue`. Interim answers are dropped before the parser reads them.
import type { Socket } from 'node:net';

type Listener = (statusCode: number) => void;

const maxLineBytes = 16_384;
const statusLine = /^[\r\n]*HTTP\/\d\.\d (\d{3})[ \r\n]/;
/** What may become a status line: only that is held back, so that anything else is refused at once. */
const begunLine = /^[\r\n]*(H(T(T(P(\/[^\n]*)?)?)?)?)?$/;
const headEnd = /\n\r?\n/;
const upgrade = 101;

const listeners = new WeakMap<Uint8Array, Listener>();

/** A view of `body` to send: `listener` gets the final status of the answer to the request that carries this view. */
export function heard(body: Buffer, listener: Listener): Buffer {
  const view = body.subarray();
  listeners.set(view, listener);
  return view;
}

/** Must be called before undici reads from the socket. */
export function hearStatusLines(socket: Socket): void {
  let filter = passOn;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.write = (chunk: Uint8Array | string, ...rest: unknown[]) => {
    const listener = typeof chunk === 'string' ? undefined : listeners.get(chunk);
    if (listener) filter = untilStatus(listener);
    return write(chunk, ...rest);
  };
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    for (;;) {
      const chunk: Buffer | null = read(size);
      const rest = chunk && filter(chunk);
      if (rest === null || rest.length > 0) return rest;
    }
  };
}

function passOn(chunk: Buffer): Buffer {
  return chunk;
}

/** Holds back an answer until its final status is known. */
function untilStatus(listener: Listener): (chunk: Buffer) => Buffer {
  let held = '';
  let interim = false;
  let done = false;
  return (chunk) => {
    if (done) return chunk;
    held += chunk.toString('latin1');
    for (;;) {
      if (interim) {
        const end = headEnd.exec(held);
        if (!end) {
          held = held.slice(-2);
          return Buffer.alloc(0);
        }
        held = held.slice(end.index + end[0].length);
        interim = false;
      }
      if (held.length < maxLineBytes && begunLine.test(held)) return Buffer.alloc(0);
      const statusCode = Number(statusLine.exec(held)?.[1]);
      interim = statusCode >= 100 && statusCode < 200 && statusCode !== upgrade;
      if (interim) continue;
      done = true;
      if (statusCode >= 200) listener(statusCode);
      return Buffer.from(held, 'latin1');
    }
  };
}
