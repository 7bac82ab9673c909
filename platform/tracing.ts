// Traces a request up to the delivery of its event. Another process may deliver it hours later, so the event stores the
// trace context of the request (W3C Trace Context), and each attempt continues that trace.
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
import type { Config } from '../schemas/shared/config.schema.js';

export interface Traced {
  /** Without personal names, addresses or secrets: readers of traces must not see data of members. */
  name: string;
  kind: 'server' | 'client';
  /**
   * A W3C `traceparent`. Without one, the span continues the current span, or starts a new trace when there is none.
   */
  parent?: string | undefined;
  attributes: Attributes;
}

/** Attributes that are known only at the end of a span. */
export interface Outcome {
  name?: string;
  attributes: Attributes;
  failed: boolean;
}

export interface Tracing {
  /** Runs `work` in a span; `work` reports its outcome by calling `ended`. */
  span: <T>(traced: Traced, work: (ended: (outcome: Outcome) => void) => Promise<T>) => Promise<T>;
  /**
   * The `traceparent` of the current span, to be stored for work that continues in another process; undefined without a
   * span.
   */
  current: () => string | undefined;
  /** Sends the pending spans. */
  close: () => Promise<void>;
}

export const noTracing: Tracing = {
  span: (_traced, work) => work(() => {}),
  current: () => undefined,
  close: async () => {},
};

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

/**
 * Sends spans to the OTLP/HTTP endpoint in `OTEL_EXPORTER_OTLP_ENDPOINT`; without that variable no OpenTelemetry
 * package except its API is loaded. The exporter itself reads the other variables of the OTLP specification (headers,
 * timeout, compression, certificates).
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
        // The error's message is left out: it may quote the data that was sent.
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
