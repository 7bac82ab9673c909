// A trace collector: accepts OTLP over HTTP as JSON and keeps the spans.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

const value = z.object({ stringValue: z.string().optional(), intValue: z.union([z.int(), z.string()]).optional() });
const span = z.object({
  name: z.string(),
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  kind: z.int(),
  attributes: z.array(z.object({ key: z.string(), value })),
  status: z.object({ code: z.int() }),
});
const traces = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(span) })) })),
});

export interface TraceCollector {
  url: string;
  spans: z.infer<typeof span>[];
  stop: () => Promise<void>;
}

export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: TraceCollector['spans'] = [];
  const server = createServer(async (request, response) => {
    if (request.url !== '/v1/traces') return response.writeHead(404).end();
    const sent = traces.parse(await json(request));
    spans.push(...sent.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
