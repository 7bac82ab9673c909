// Serves metrics and health on a separate port, so that they cannot be reached through the port of the API. When the
// port cannot be opened, the process logs an error and runs without metrics.
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { request } from 'undici';
import { codecPath } from '../temporal/codecEndpoint.js';
import type { Metrics } from './metrics.js';

export interface MetricsServerOptions {
  metrics: Metrics;
  log: Logger;
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** Whether this process has started and runs; if not, GET /healthz answers 503. */
  healthy: () => boolean;
  /** Why this process cannot do all of its work now: GET /readyz answers 503 with it. Without it, no /readyz. */
  problems?: () => readonly string[];
  /** Where the Temporal SDK serves its own metrics; they are appended to ours. */
  sdkMetricsUrl?: string;
  /** Handles `/codec` and the paths below it. */
  codec?: RequestListener | undefined;
}

export interface MetricsServer {
  /** 0 when the port could not be opened. */
  port: number;
  close: () => Promise<void>;
}

const sdkTimeoutMs = 1_000;

export async function serveMetrics(options: MetricsServerOptions): Promise<MetricsServer> {
  const { metrics, log, host, port, healthy, problems, sdkMetricsUrl, codec } = options;
  const server = createServer(async (asked, answer) => {
    const path = asked.url?.split('?')[0];
    if (path === '/healthz') return say(answer, healthy() ? [] : ['not running']);
    if (path === '/readyz' && problems) return say(answer, problems());
    if (codec && (path === codecPath || path?.startsWith(`${codecPath}/`))) {
      codec(asked, answer);
      return;
    }
    if (path !== '/metrics') {
      answer.writeHead(404).end();
      return;
    }
    const [own, sdk] = await Promise.all([metrics.registry.metrics(), sdkMetricsUrl ? readSdk(sdkMetricsUrl) : '']);
    answer.writeHead(200, { 'Content-Type': metrics.registry.contentType }).end(`${own}${sdk}`);
  });
  const listening = await new Promise<boolean>((resolve) => {
    server.once('listening', () => resolve(true));
    server.once('error', (error) => {
      log.error({ err: error, host, port }, 'metrics are not served');
      resolve(false);
    });
    server.listen(port, host);
  });
  const address = listening ? server.address() : null;
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function say(answer: ServerResponse, problems: readonly string[]): void {
  const headers = { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' };
  answer.writeHead(problems.length === 0 ? 200 : 503, headers).end(`${problems.join('\n') || 'ok'}\n`);
}

async function readSdk(url: string): Promise<string> {
  try {
    const { body } = await request(url, { headersTimeout: sdkTimeoutMs, bodyTimeout: sdkTimeoutMs });
    return await body.text();
  } catch {
    return '';
  }
}
