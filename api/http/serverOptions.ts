// The options of the HTTP server of an API process.
import type { ServerOptions } from 'node:http';
import type { Config } from '../../schemas/shared/config.schema.js';

/** The backlog of connections that wait to be accepted, as far as the system allows. */
export const backlog = 4_096;

const headersTimeoutMs = 60_000;

/**
 * A proxy that reuses a connection which the server is just closing gets no answer, so idle connections stay open for
 * longer than proxies keep them.
 */
export const serverOptions = ({ KEEP_ALIVE_MS }: Config): ServerOptions => ({
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: headersTimeoutMs,
  // `limitBodies` (api/http/bodyTimeouts.ts) ends slow bodies.
  requestTimeout: 0,
  // The application refuses a request without Host, in the envelope.
  requireHostHeader: false,
});
