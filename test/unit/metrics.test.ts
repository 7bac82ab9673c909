// The metrics and health endpoints of a process.
import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../platform/metrics/metrics.js';
import { type MetricsServer, type MetricsServerOptions, serveMetrics } from '../../platform/metrics/metricsServer.js';
import { ServiceError } from '../../schemas/errors.js';

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

const outbox = { events: 3, ageSeconds: 7.5, staleDevices: 2, queuedDeliveries: 5, queueAgeSeconds: 61.5 };

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
      'lps_import_rows_total{outcome="created"} 40',
      'lps_mails_total{kind="card-link",outcome="sent"} 1',
      'lps_relayed_events_total 12',
    ])
      expect(text).toContain(line);
  });

  it('read the outbox once for each scrape', async () => {
    const metrics = createMetrics();
    let reads = 0;
    const readOutbox = async () => {
      reads += 1;
      return outbox;
    };
    metrics.watch({ readOutbox, temporalAvailable: () => false });
    const text = await (await (await serve({ metrics }))('/metrics')).text();
    expect(reads).toBe(1);
    for (const line of ['events 3', 'age_seconds 7.5']) expect(text).toContain(`lps_outbox_${line}`);
    expect(text).toContain('lps_stale_devices 2');
    expect(text).toContain('lps_queued_deliveries 5');
    expect(text).toContain('lps_queued_deliveries_age_seconds 61.5');
    expect(text).toContain('lps_mongodb_up 1');
    expect(text).toContain('lps_temporal_up 0');
  });

  it('report that MongoDB is unavailable instead of failing the scrape', async () => {
    const metrics = createMetrics();
    metrics.watch({ readOutbox: () => Promise.reject(new Error('unavailable')), temporalAvailable: () => true });
    const answer = await (await serve({ metrics }))('/metrics');
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toContain('lps_mongodb_up 0');
    expect(text).toContain('lps_outbox_events Nan');
    expect(text).toContain('lps_queued_deliveries Nan');
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
  ])('of a process whose readiness is %s is %i', async (ready, status) => {
    const ask = await serve({ healthy: () => ready });
    expect((await ask('/healthz')).status).toBe(status);
    expect((await ask('/other')).status).toBe(404);
  });
});
