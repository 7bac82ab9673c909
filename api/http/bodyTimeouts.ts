// Ends a request whose body stands still or arrives too slowly: all of it in `lastMs`, or where the endpoint takes
// large bodies, `leastBytes` in each such time, which is as fast as the largest body of other endpoints. Node can limit
// only how long every request lasts, which would set a high least speed for large uploads.
import type { IncomingMessage, Server } from 'node:http';
import { maxBytes } from './readBody.js';

export interface BodyTimeouts {
  /** Nothing arrived for this time, and up to twice as long. */
  stillMs: number;
  lastMs: number;
  leastBytes: number;
}

const defaults: BodyTimeouts = { stillMs: 30_000, lastMs: 120_000, leastBytes: maxBytes };

const lasting = new WeakSet<IncomingMessage>();

/** Lets the body of a request last while `leastBytes` arrive in each `lastMs`. */
export const allowLongBody = (request: IncomingMessage): void => void lasting.add(request);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Call this before the server listens. Such a request becomes a `clientError` of the server, as Node's own timeouts do. */
export function limitBodies(server: Server, { stillMs, lastMs, leastBytes }: BodyTimeouts = defaults): void {
  server.prependListener('request', (request: IncomingMessage) => {
    if (!hasBody(request)) return;
    const { socket } = request;
    // While this process has not read what arrived, the client cannot send more.
    const seen = () => ({ bytes: socket.bytesRead, isUnread: request.readableLength > 0 });
    let before = seen();
    let since = { at: performance.now(), bytes: before.bytes };

    function check(): void {
      if (request.complete || request.destroyed) return;
      const after = seen();
      const waited = after.isUnread || before.isUnread;
      const isStill = after.bytes === before.bytes && !waited;
      before = after;
      const now = performance.now();
      const isLarge = lasting.has(request);
      if (isLarge && (waited || after.bytes - since.bytes >= leastBytes)) since = { at: now, bytes: after.bytes };
      if (!isStill && now - since.at < lastMs) return;
      clearInterval(timer);
      const error = Object.assign(new Error('The body did not arrive in time.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      server.emit('clientError', error, socket);
    }

    // After a pause of this process, timers come before the bytes that arrived meanwhile.
    const timer = setInterval(() => setImmediate(check), stillMs).unref();
    request.once('close', () => clearInterval(timer));
  });
}
