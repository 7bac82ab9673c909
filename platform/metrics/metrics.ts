// All metrics for operators are defined here. Each label has a few known values. Merchants, members and URLs are never
// labels: they can be personal data, and their number is unbounded.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DisabledReason } from '../../schemas/events/events.schema.js';
import type { MailKind } from '../../schemas/mail/mails.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { Platform } from '../../schemas/shared/passUpdate.schema.js';
import type { DeliveryState } from '../../schemas/webhooks/webhooks.schema.js';

const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Gauges that are collected within this time share one reading. */
const gaugeCacheMs = 1_000;
const attemptSeconds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const faceSeconds = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 1, 2.5, 10, 60, 900];

/** What waits, and the age of the oldest of it. */
export interface Backlog {
  count: number;
  ageSeconds: number;
}

/** Each is read by itself: a slow or failed one leaves the gauges of the others alone. */
export interface GaugeSources {
  /** Events that are not published yet. */
  readEvents: () => Promise<Backlog>;
  /** Deliveries in the queue. */
  readDeliveries: () => Promise<Backlog>;
  countStaleDevices: () => Promise<number>;
  readLastBackup: () => Promise<Date | undefined>;
  pingMongodb: () => Promise<unknown>;
  temporalAvailable: () => boolean;
  /** When the first of Apple's certificates ends; undefined in stub mode. */
  certificatesEndAt: () => Date | undefined;
}

export interface Metrics {
  registry: Registry;
  request: (of: { method: string; route: string; status: number; seconds: number }) => void;
  /**
   * Runs `work`, counts its outcome (the result's `kind`, or the error code), and returns the result or throws the
   * error.
   */
  memberChange: <T extends { kind: string }>(operation: string, work: () => Promise<T>) => Promise<T>;
  /** One delivery attempt. */
  attempt: (of: { kind: 'first' | 'retry'; error: string | null; seconds: number }) => void;
  /** A delivery reached a final state, or will be retried. */
  delivery: (state: DeliveryState) => void;
  /** The service disabled a subscription. */
  disabled: (reason: DisabledReason) => void;
  pass: (platform: Platform, answer: string) => void;
  /** A wallet has the face of a change that was stored at `changedAt`. */
  face: (of: { wallet: Platform; changedAt: Date; at: Date }) => void;
  importRows: (outcome: string, rows: number) => void;
  relayed: (events: number) => void;
  /** Requests that the log of requests leaves out, because it is behind or cannot be written. */
  unlogged: (requests: number) => void;
  /** `outcome`: sent, failed, or delayed when it is sent later. */
  mail: (kind: MailKind, outcome: 'sent' | 'failed' | 'delayed') => void;
  /**
   * Adds the gauges that are read at each scrape: outbox, delivery queue, stale devices, MongoDB, Temporal,
   * certificates, backup. Call it once.
   */
  watch: (sources: GaugeSources) => void;
  /** Adds the gauge of the queues that this worker does not poll. Call it once. */
  watchPolls: (unpolled: () => number) => void;
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
  const changes = counter(
    'lps_member_changes_total',
    'Changes of members by operation and outcome: done, unchanged, replay, abandoned, created, deduped, or the error code.',
    ['operation', 'outcome'],
  );
  const attempts = new Histogram({
    name: 'lps_webhook_attempt_duration_seconds',
    help: 'Attempts at receivers, first or retry; error is "none" or what went wrong.',
    labelNames: ['kind', 'error'],
    buckets: attemptSeconds,
    registers,
  });
  const deliveries = counter('lps_deliveries_total', 'Deliveries by the state that they came to.', ['state']);
  const disabled = counter('lps_subscriptions_disabled_total', 'Subscriptions that were disabled, by reason.', [
    'reason',
  ]);
  const passes = counter('lps_pass_pushes_total', 'Pushes and patches by wallet and answer.', ['platform', 'answer']);
  const faces = new Histogram({
    name: 'lps_wallet_face_seconds',
    help: 'From a stored change to its face: a phone was given its Apple pass, or Google accepted the pushed object, without those brought up to date later.',
    labelNames: ['wallet'],
    buckets: faceSeconds,
    registers,
  });
  const rows = counter('lps_import_rows_total', 'Rows of imports by outcome.', ['outcome']);
  const mails = counter('lps_mails_total', 'Attempts to send a mail by kind and outcome: sent, delayed, failed.', [
    'kind',
    'outcome',
  ]);
  const unlogged = counter(
    'lps_unlogged_requests_total',
    'Requests that the log of requests leaves out, because it is behind or cannot be written.',
    [],
  );
  const relayed = counter('lps_relayed_events_total', 'Events that the relay processed.', []);

  return {
    registry,
    request: ({ method, route, status, seconds }) =>
      requests.observe({ method, route, status: String(status) }, seconds),
    async memberChange(operation, work) {
      try {
        const result = await work();
        changes.inc({ operation, outcome: result.kind });
        return result;
      } catch (error) {
        changes.inc({ operation, outcome: error instanceof ServiceError ? error.code : 'INTERNAL' });
        throw error;
      }
    },
    attempt: ({ kind, error, seconds }) => attempts.observe({ kind, error: error ?? 'none' }, seconds),
    delivery: (state) => deliveries.inc({ state }),
    disabled: (reason) => disabled.inc({ reason }),
    pass: (platform, answer) => passes.inc({ platform, answer }),
    // Not below zero: the version of a pass moves ahead of a clock that was set back.
    face: ({ wallet, changedAt, at }) =>
      faces.observe({ wallet }, Math.max(at.getTime() - changedAt.getTime(), 0) / 1_000),
    importRows: (outcome, count) => rows.inc({ outcome }, count),
    unlogged: (lost) => unlogged.inc(lost),
    relayed: (events) => relayed.inc(events),
    mail: (kind, outcome) => mails.inc({ kind, outcome }),
    watch: (sources) => watch(registry, sources),
    watchPolls(unpolled) {
      new Gauge({
        name: 'lps_unpolled_queues',
        help: 'Task queues from which this worker takes no work: Temporal is away, or has seen no poll for five minutes.',
        registers,
        collect() {
          this.set(unpolled());
        },
      });
    },
  };
}

/** Shares one reading among the gauges of a scrape; the result is null when the reading fails. */
function shared<T>(read: () => Promise<T>): () => Promise<T | null> {
  let reading: Promise<T | null> | undefined;
  return () => {
    if (!reading) {
      reading = read().catch(() => null);
      setTimeout(() => {
        reading = undefined;
      }, gaugeCacheMs).unref();
    }
    return reading;
  };
}

/** A gauge whose reading fails is NaN; lps_mongodb_up is 0 when MongoDB does not answer. */
function watch(registry: Registry, sources: GaugeSources): void {
  const gauge = (name: string, help: string, read: () => number | Promise<number | null | undefined>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set((await read()) ?? Number.NaN);
      },
    });
  const events = shared(sources.readEvents);
  const deliveries = shared(sources.readDeliveries);
  const staleDevices = shared(sources.countStaleDevices);
  const lastBackup = shared(sources.readLastBackup);
  const ping = shared(() => sources.pingMongodb().then(() => 1));
  gauge('lps_outbox_events', 'Events that are not published yet.', async () => (await events())?.count);
  gauge(
    'lps_outbox_age_seconds',
    'Age of the oldest event that is not published yet.',
    async () => (await events())?.ageSeconds,
  );
  gauge('lps_stale_devices', 'Phones that were pushed again and again and never fetched their pass.', staleDevices);
  gauge(
    'lps_queued_deliveries',
    'Deliveries in the queue: their receiver is slow or fails, there is no slot, or their merchant is suspended.',
    async () => (await deliveries())?.count,
  );
  gauge(
    'lps_queued_deliveries_age_seconds',
    'Age of the oldest delivery in the queue.',
    async () => (await deliveries())?.ageSeconds,
  );
  gauge('lps_mongodb_up', '1 while MongoDB answers.', async () => (await ping()) ?? 0);
  gauge('lps_temporal_up', '1 while Temporal answers.', () => (sources.temporalAvailable() ? 1 : 0));
  gauge(
    'lps_last_backup_timestamp_seconds',
    'When the newest backup was made; NaN when the command has made none, or it cannot be read.',
    async () => ((await lastBackup())?.getTime() ?? Number.NaN) / 1_000,
  );
  gauge(
    'lps_apple_certificates_end_timestamp_seconds',
    "When the first of Apple's certificates ends; NaN while its wallet is a stub.",
    () => (sources.certificatesEndAt()?.getTime() ?? Number.NaN) / 1_000,
  );
}

/** Adds the metrics of the process: event loop, memory and garbage collection. Call it once for each process. */
export function watchProcess({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
}
