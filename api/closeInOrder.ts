// Ends an HTTP server without failing anybody who spoke to it: nobody new gets in, what is asked on an open connection is
// still answered, and each answer says that the connection ends with it.
import type { Server as HttpServer, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';

export interface CloseInOrder {
  /** How long a quiet connection is left open: a request may be on its way on it. */
  lingerMs: number;
  /** After this long whatever is left is cut. */
  graceMs: number;
}

const lookEveryMs = 50;

/** Call it before the server listens; the answer ends the server. */
export function closingInOrder(server: HttpServer): (how: CloseInOrder) => Promise<void> {
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
        if (tookMs > lingerMs) server.closeIdleConnections();
        if (tookMs > graceMs) server.closeAllConnections();
      }, lookEveryMs);
      // The listener alone: the HTTP server's own close would cut quiet connections at once.
      NetServer.prototype.close.call(server, () => {
        clearInterval(looking);
        resolve();
      });
    });
  };
}
