// The metrics and health endpoints of a process.
import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { createMetrics, type GaugeSources } from '../../../platform/metrics/metrics.js';
import {
  type MetricsServer,
  type MetricsServerOptions,
  serveMetrics,
} from '../../../platform/metrics/metricsServer.js';
import { ServiceError } from '../../../schemas/shared/errors.js';

const servers: MetricsServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(options: Partial<MetricsServerOptions> = {}): Promise<(path: string) => Promise<Response>> {
  const server = await serveMetrics({
    metrics: createMetrics(),
    log: pino({ level: 'silent' }),
    host: '127.0.0.1',
    port: 0,
    healthy: () => true,
    ...options,
  });
  servers.push(server);
  return (path) => fetch(`http://127.0.0.1:${server.port}${path}`);
}

const sources: GaugeSources = {
  readEvents: async () => ({ count: 3, ageSeconds: 7.5 }),
  readDeliveries: async () => ({ count: 5, ageSeconds: 61.5 }),
  countStaleDevices: async () => 2,
  readLastBackup: async () => new Date('2026-11-25T03:00:00Z'),
  pingMongodb: async () => ({ ok: 1 }),
  temporalAvailable: () => false,
  certificatesEndAt: () => new Date('2027-05-01T00:00:00Z'),
};
const gaugesOf: Record<
  Exclude<keyof GaugeSources, 'temporalAvailable' | 'certificatesEndAt'>,
  Record<string, number>
> = {
  readEvents: { lps_outbox_events: 3, lps_outbox_age_seconds: 7.5 },
  readDeliveries: { lps_queued_deliveries: 5, lps_queued_deliveries_age_seconds: 61.5 },
  countStaleDevices: { lps_stale_devices: 2 },
  readLastBackup: { lps_last_backup_timestamp_seconds: 1795575600 },
  pingMongodb: { lps_mongodb_up: 1 },
};
const sourceNames = Object.keys(gaugesOf) as (keyof typeof gaugesOf)[];

async function scrape(over: Partial<GaugeSources>): Promise<string[]> {
  const metrics = createMetrics();
  metrics.watch({ ...sources, ...over });
  const answer = await (await serve({ metrics }))('/metrics');
  expect(answer.status).toBe(200);
  return (await answer.text()).split('\n');
}

describe('metrics', () => {
  it('show the counts by route pattern and outcome', async () => {
    const metrics = createMetrics();
    metrics.request({ method: 'GET', route: '/api/v1/merchants/me/members/:id', status: 200, seconds: 0.02 });
    await metrics.memberChange('points', async () => ({ kind: 'done' }));
    const refused = metrics.memberChange('redeem', async () => {
      throw new ServiceError('CARD_NOT_FULL');
    });
    await expect(refused).rejects.toThrow(ServiceError);
    metrics.attempt({ kind: 'first', error: null, seconds: 0.2 });
    metrics.attempt({ kind: 'retry', error: 'timeout', seconds: 10 });
    metrics.delivery('exhausted');
    metrics.pass('apple', 'gone');
    const changedAt = new Date('2026-05-01T00:00:00Z');
    metrics.face({ wallet: 'apple', changedAt, at: new Date(changedAt.getTime() + 251) });
    metrics.face({ wallet: 'google', changedAt, at: new Date(changedAt.getTime() - 1) });
    metrics.importRows('created', 40);
    metrics.mail('card-link', 'sent');
    metrics.relayed(12);
    const text = await (await (await serve({ metrics }))('/metrics')).text();
    for (const line of [
      'lps_http_request_duration_seconds_count{method="GET",route="/api/v1/merchants/me/members/:id",status="200"} 1',
      'lps_member_changes_total{operation="points",outcome="done"} 1',
      'lps_member_changes_total{operation="redeem",outcome="CARD_NOT_FULL"} 1',
      'lps_webhook_attempt_duration_seconds_count{kind="first",error="none"} 1',
      'lps_webhook_attempt_duration_seconds_sum{kind="retry",error="timeout"} 10',
      'lps_deliveries_total{state="exhausted"} 1',
      'lps_pass_pushes_total{platform="apple",answer="gone"} 1',
      'lps_wallet_face_seconds_bucket{le="0.25",wallet="apple"} 0',
      'lps_wallet_face_seconds_bucket{le="0.3",wallet="apple"} 1',
      'lps_wallet_face_seconds_sum{wallet="google"} 0',
      'lps_import_rows_total{outcome="created"} 40',
      'lps_mails_total{kind="card-link",outcome="sent"} 1',
      'lps_relayed_events_total 12',
    ])
      expect(text).toContain(line);
  });

  it('share one reading of each kind among the gauges of a scrape', async () => {
    const reads: string[] = [];
    const counted = Object.fromEntries(
      sourceNames.map((name) => [
        name,
        () => {
          reads.push(name);
          return sources[name]();
        },
      ]),
    );
    const lines = await scrape(counted);
    expect(reads.toSorted()).toEqual(sourceNames.toSorted());
    for (const gauges of Object.values(gaugesOf))
      for (const [gauge, value] of Object.entries(gauges)) expect(lines).toContain(`${gauge} ${value}`);
    expect(lines).toContain('lps_temporal_up 0');
  });

  it.each(sourceNames)('%s that fails leaves the gauges of the other readings alone', async (failing) => {
    const lines = await scrape({ [failing]: () => Promise.reject(new Error('too slow')) });
    for (const name of sourceNames)
      for (const [gauge, value] of Object.entries(gaugesOf[name])) {
        const unknown = gauge === 'lps_mongodb_up' ? 0 : 'Nan';
        expect(lines).toContain(`${gauge} ${name === failing ? unknown : value}`);
      }
  });

  it("show when Apple's certificates end, and nothing in stub mode", async () => {
    const name = 'lps_apple_certificates_end_timestamp_seconds';
    expect(await scrape({})).toContain(`${name} 1809129600`);
    expect(await scrape({ certificatesEndAt: () => undefined })).toContain(`${name} Nan`);
  });

  it('are followed by those of the Temporal SDK if it answers', async () => {
    const sdk = await serve();
    const sdkMetricsUrl = (await sdk('/metrics')).url;
    const metrics = createMetrics();
    metrics.relayed(1);
    const both = await (await (await serve({ metrics, sdkMetricsUrl }))('/metrics')).text();
    expect(both.match(/# TYPE lps_relayed_events_total/g)).toHaveLength(2);
    const alone = await serve({ metrics, sdkMetricsUrl: 'http://127.0.0.1:9/metrics' });
    expect(await (await alone('/metrics')).text()).toContain('lps_relayed_events_total 1');
  });

  it('do not stop the process when their port is taken', async () => {
    const first = await serve();
    const { port } = new URL((await first('/healthz')).url);
    const second = await serveMetrics({
      metrics: createMetrics(),
      log: pino({ level: 'silent' }),
      host: '127.0.0.1',
      port: Number(port),
      healthy: () => true,
    });
    expect(second.port).toBe(0);
    await second.close();
  });
});

describe('health', () => {
  it.each([
    [true, 200],
    [false, 503],
  ])('of a process for which being healthy is %s is %i', async (healthy, status) => {
    const ask = await serve({ healthy: () => healthy });
    expect((await ask('/healthz')).status).toBe(status);
    expect((await ask('/other')).status).toBe(404);
  });

  it('says why a process is not ready, while it is healthy', async () => {
    const problems: string[] = [];
    const ask = await serve({ problems: () => problems });
    expect((await ask('/readyz')).status).toBe(200);
    problems.push('the queue webhooks', 'the queue retries');
    const answer = await ask('/readyz');
    expect([answer.status, await answer.text()]).toEqual([503, 'the queue webhooks\nthe queue retries\n']);
    expect((await ask('/healthz')).status).toBe(200);
    expect((await (await serve())('/readyz')).status).toBe(404);
  });
});
