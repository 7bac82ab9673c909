// Traces from a request to the delivery of its event. Whoever carries an event out may be another process, hours later, so the
// event itself holds the trace context of the request that made it (W3C Trace Context), and each attempt continues it.
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Config } from '../schemas/config.js';

export interface Traced {
  /** No names, addresses or secrets: whoever sees traces is not meant to see members. */
  name: string;
  kind: 'server' | 'client';
  /** A W3C `traceparent`; a new trace begins without one. */
  parent?: string | undefined;
  attributes: Attributes;
}

/** What became known by the end. */
export interface Outcome {
  name?: string;
  attributes: Attributes;
  failed: boolean;
}

export interface Tracing {
  /** Runs `work` as a span; it calls `ended` with what became of it. */
  span: <T>(traced: Traced, work: (ended: (outcome: Outcome) => void) => Promise<T>) => Promise<T>;
  /** The `traceparent` of the span that this runs in, for what goes on elsewhere. */
  current: () => string | undefined;
  /** Sends what was not sent yet. */
  close: () => Promise<void>;
}

export const noTracing: Tracing = {
  span: (_traced, work) => work(() => {}),
  current: () => undefined,
  close: async () => {},
};

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

/**
 * Sends spans to the OTLP/HTTP endpoint of `OTEL_EXPORTER_OTLP_ENDPOINT`; without one nothing of OpenTelemetry is loaded. The
 * exporter reads the other variables of its specification itself (headers, timeout, compression, certificates).
 */
export async function createTracing({
  config,
  log,
  process,
}: {
  config: Pick<Config, 'OTEL_EXPORTER_OTLP_ENDPOINT'>;
  log: Logger;
  process: 'api' | 'worker';
}): Promise<Tracing> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint) return noTracing;
  const [{ W3CTraceContextPropagator }, { resourceFromAttributes }, { BasicTracerProvider, BatchSpanProcessor }, otlp] =
    await Promise.all([
      import('@opentelemetry/core'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ]);
  const exporter = new otlp.OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': `loyalty-pass-service-${process}` }),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1_000 })],
  });
  const tracer = provider.getTracer('loyalty-pass-service');
  const propagator = new W3CTraceContextPropagator();
  const running = new AsyncLocalStorage<Context>();
  log.info({ endpoint }, 'traces are sent');

  const contextOf = (parent: string | undefined): Context => {
    if (parent === undefined) return running.getStore() ?? ROOT_CONTEXT;
    return propagator.extract(ROOT_CONTEXT, { traceparent: parent }, defaultTextMapGetter);
  };
  const close = (span: Span, { name, attributes, failed }: Outcome): void => {
    if (name !== undefined) span.updateName(name);
    span.setAttributes(attributes);
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  };

  return {
    async span({ name, kind, parent, attributes }, work) {
      const within = contextOf(parent);
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, within);
      try {
        return await running.run(trace.setSpan(within, span), () => work((outcome) => close(span, outcome)));
      } catch (error) {
        // The message stays out: it may quote what was sent.
        close(span, { attributes: { 'error.type': error instanceof Error ? error.name : 'unknown' }, failed: true });
        throw error;
      } finally {
        span.end();
      }
    },
    current() {
      const context = running.getStore();
      if (!context) return undefined;
      const carrier: { traceparent?: string } = {};
      propagator.inject(context, carrier, defaultTextMapSetter);
      return carrier.traceparent;
    },
    close: () =>
      provider.shutdown().catch((error: unknown) => log.warn({ err: error }, 'the last traces could not be sent')),
  };
}
