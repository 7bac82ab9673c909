// What operators watch. Every name is made here and nowhere else, with labels of a few known values each: never a merchant,
// a member or a URL, which would be personal data and without number.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ServiceError } from '../../schemas/errors.js';
import type { Platform } from '../../schemas/passUpdate.js';
import type { DeliveryState, DisabledReason } from '../../schemas/webhooks.js';

const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** A reading is shared by what is asked for within this time. */
const readingMs = 1_000;
const attemptSeconds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export interface Outbox {
  events: number;
  /** Of the oldest event that is not published yet. */
  ageSeconds: number;
  staleDevices: number;
}

export interface Watched {
  readOutbox: () => Promise<Outbox>;
  temporalPresent: () => boolean;
}

export interface Metrics {
  registry: Registry;
  request: (of: { method: string; route: string; status: number; seconds: number }) => void;
  /** Counts what became of a gesture, by its result's kind or its refusal's code, and passes both on. */
  gesture: <T extends { kind: string }>(operation: string, work: () => Promise<T>) => Promise<T>;
  /** One attempt at a receiver. */
  attempt: (of: { turn: 'first' | 'retry'; error: string | null; seconds: number }) => void;
  /** A delivery came to rest, or begins to be retried. */
  delivery: (state: DeliveryState) => void;
  /** The service disabled a subscription. */
  disabled: (reason: DisabledReason) => void;
  pass: (platform: Platform, answer: string) => void;
  importRows: (outcome: string, rows: number) => void;
  relayed: (events: number) => void;
  /** How many times as long as otherwise gestures take beside bulk work. */
  slowdown: (times: number) => void;
  /** Bulk work rested so that gestures have room. */
  rested: (seconds: number) => void;
  /** From now on each scrape looks at what does not happen in this process; once. */
  watch: (watched: Watched) => void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames, registers });

  const requests = new Histogram({
    name: 'lps_http_request_duration_seconds',
    help: 'Requests of the API by route and status; routes are patterns, not paths.',
    labelNames: ['method', 'route', 'status'],
    buckets: requestSeconds,
    registers,
  });
  const gestures = counter(
    'lps_gestures_total',
    'Changes of members by operation and outcome: done, unchanged, replay, abandoned, created, deduped, or the error code.',
    ['operation', 'outcome'],
  );
  const attempts = new Histogram({
    name: 'lps_webhook_attempt_duration_seconds',
    help: 'Attempts at receivers, first or retry; error is "none" or what went wrong.',
    labelNames: ['turn', 'error'],
    buckets: attemptSeconds,
    registers,
  });
  const deliveries = counter('lps_deliveries_total', 'Deliveries by the state that they came to.', ['state']);
  const disabled = counter('lps_subscriptions_disabled_total', 'Subscriptions that were disabled, by reason.', [
    'reason',
  ]);
  const passes = counter('lps_pass_pushes_total', 'Pushes and patches by wallet and answer.', ['platform', 'answer']);
  const rows = counter('lps_import_rows_total', 'Rows of imports by outcome.', ['outcome']);
  const rests = counter('lps_bulk_rest_seconds_total', 'Seconds that bulk work rested to make room for gestures.', []);
  const slowdown = new Gauge({
    name: 'lps_gesture_slowdown_ratio',
    help: 'How many times as long as otherwise the transactions of gestures take beside bulk work; 1 beside none.',
    registers,
  });
  slowdown.set(1);
  const relayed = counter('lps_relayed_events_total', 'Events that the relay carried out.', []);

  return {
    registry,
    request: ({ method, route, status, seconds }) =>
      requests.observe({ method, route, status: String(status) }, seconds),
    async gesture(operation, work) {
      try {
        const result = await work();
        gestures.inc({ operation, outcome: result.kind });
        return result;
      } catch (error) {
        gestures.inc({ operation, outcome: error instanceof ServiceError ? error.code : 'INTERNAL' });
        throw error;
      }
    },
    attempt: ({ turn, error, seconds }) => attempts.observe({ turn, error: error ?? 'none' }, seconds),
    delivery: (state) => deliveries.inc({ state }),
    disabled: (reason) => disabled.inc({ reason }),
    pass: (platform, answer) => passes.inc({ platform, answer }),
    importRows: (outcome, count) => rows.inc({ outcome }, count),
    relayed: (events) => relayed.inc(events),
    slowdown: (times) => slowdown.set(times),
    rested: (seconds) => rests.inc(seconds),
    watch: (watched) => watch(registry, watched),
  };
}

/** One reading serves all the gauges of a scrape; what could not be read is no number. */
function watch(registry: Registry, { readOutbox, temporalPresent }: Watched): void {
  let reading: Promise<Outbox | null> | undefined;
  const latest = (): Promise<Outbox | null> => {
    if (!reading) {
      reading = readOutbox().catch(() => null);
      setTimeout(() => {
        reading = undefined;
      }, readingMs).unref();
    }
    return reading;
  };
  const gauge = (name: string, help: string, of: (outbox: Outbox | null) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(of(await latest()));
      },
    });
  const unknown = Number.NaN;
  gauge('lps_outbox_events', 'Events that are not published yet.', (outbox) => outbox?.events ?? unknown);
  gauge(
    'lps_outbox_age_seconds',
    'Age of the oldest event that is not published yet.',
    (outbox) => outbox?.ageSeconds ?? unknown,
  );
  gauge(
    'lps_stale_devices',
    'Phones that were pushed again and again and never fetched their pass.',
    (outbox) => outbox?.staleDevices ?? unknown,
  );
  gauge('lps_mongodb_up', '1 while MongoDB answers.', (outbox) => (outbox ? 1 : 0));
  gauge('lps_temporal_up', '1 while Temporal answers.', () => (temporalPresent() ? 1 : 0));
}

/** Event loop, memory and garbage collection; once for each process. */
export function watchProcess({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
}
