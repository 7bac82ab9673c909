// Ends a request whose body stands still or, unless the endpoint takes large ones, lasts too long. Node can limit only
// how long every request lasts, which would set a least speed for large uploads.
import type { IncomingMessage, Server } from 'node:http';

export interface BodyTimeouts {
  /** Nothing arrived for this time, and up to twice as long. */
  stillMs: number;
  lastMs: number;
}

const defaults: BodyTimeouts = { stillMs: 30_000, lastMs: 120_000 };

const lasting = new WeakSet<IncomingMessage>();

/** Lets the body of a request take any time while it arrives. */
export const allowLongBody = (request: IncomingMessage): void => void lasting.add(request);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Call this before the server listens. Such a request becomes a `clientError` of the server, as Node's own timeouts do. */
export function limitBodies(server: Server, { stillMs, lastMs }: BodyTimeouts = defaults): void {
  server.prependListener('request', (request: IncomingMessage) => {
    if (!hasBody(request)) return;
    const { socket } = request;
    const startedAt = performance.now();
    // While this process has not read what arrived, the client cannot send more.
    const seen = () => ({ bytes: socket.bytesRead, isUnread: request.readableLength > 0 });
    let before = seen();

    function check(): void {
      if (request.complete || request.destroyed) return;
      const after = seen();
      const isStill = after.bytes === before.bytes && !after.isUnread && !before.isUnread;
      before = after;
      if (!isStill && (lasting.has(request) || performance.now() - startedAt < lastMs)) return;
      clearInterval(timer);
      const error = Object.assign(new Error('The body did not arrive in time.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      server.emit('clientError', error, socket);
    }

    // After a pause of this process, timers come before the bytes that arrived meanwhile.
    const timer = setInterval(() => setImmediate(check), stillMs).unref();
    request.once('close', () => clearInterval(timer));
  });
}
