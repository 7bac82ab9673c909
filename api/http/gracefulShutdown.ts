// Closes an HTTP server without failing clients that are connected. The server accepts no new connections, still
// answers requests on open connections, and sends `Connection: close` with each of these answers.
import type { Server as HttpServer, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';

export interface GracefulShutdown {
  /** How long an idle connection stays open, because a request may be on its way. */
  lingerMs: number;
  /** After this time all remaining connections are cut. */
  graceMs: number;
}

const lookEveryMs = 50;

/** Call this before the server listens. The returned function closes the server. */
export function createGracefulShutdown(server: HttpServer): (how: GracefulShutdown) => Promise<void> {
  const open = new Set<ServerResponse>();
  let closing = false;
  const last = (answer: ServerResponse): void => {
    if (!answer.headersSent) answer.setHeader('Connection', 'close');
  };
  server.prependListener('request', (_request, answer: ServerResponse) => {
    open.add(answer);
    answer.once('close', () => open.delete(answer));
    if (closing) last(answer);
  });

  return async function close({ lingerMs, graceMs }) {
    closing = true;
    for (const answer of open) last(answer);
    const begunAt = performance.now();
    await new Promise<void>((resolve) => {
      const looking = setInterval(() => {
        const tookMs = performance.now() - begunAt;
        // Not before the requests that have come are read: this process may have stood still.
        if (tookMs > lingerMs) setImmediate(() => server.closeIdleConnections());
        if (tookMs > graceMs) server.closeAllConnections();
      }, lookEveryMs);
      // Closes only the listening socket: `close` of the HTTP server would cut idle connections at once.
      NetServer.prototype.close.call(server, () => {
        clearInterval(looking);
        resolve();
      });
    });
  };
}
