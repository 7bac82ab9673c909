// Personal data and secrets of a whole run appear in no place where operators look: logs, metrics and traces of API and
// worker, and Temporal's histories.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findPort } from '../../../stack/ports.js';
import { until } from '../../rig/checks/until.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { startTraceCollector, type TraceCollector } from '../../rig/standins/traceCollector.js';
import { newStackDir, type RunningStack, startStack } from '../../rig/start/runningStack.js';

const person = {
  firstName: 'Canaryfirst',
  lastName: 'Canarylast',
  email: 'canary-mail@example.com',
  phone: '+15550001234',
  externalId: 'canary-card-4001',
};
const webhookSecret = 'canary-webhook-secret-0123456789';
const { stackDir, remove } = newStackDir();
let stack: RunningStack;
let receiver: Receiver;
let collector: TraceCollector;
let workerMetricsPort: number;

beforeAll(async () => {
  receiver = await startReceiver((_request, answer) => answer.writeHead(500).end());
  collector = await startTraceCollector();
  workerMetricsPort = await findPort('127.0.0.1');
  stack = await startStack(stackDir, {
    LOG_LEVEL: 'debug',
    WORKER_METRICS_PORT: String(workerMetricsPort),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
});
afterAll(async () => {
  await stack.stop();
  await receiver.stop();
  await collector.stop();
  remove();
});

/** Payloads in the JSON of a history are base64 and contain JSON. */
function decoded(value: unknown): string {
  if (Array.isArray(value)) return value.map(decoded).join('\n');
  if (typeof value === 'string') return `${value}\n${Buffer.from(value, 'base64').toString('utf8')}`;
  if (typeof value === 'object' && value !== null) return Object.values(value).map(decoded).join('\n');
  return '';
}

async function histories(): Promise<string> {
  const { temporalAddress } = stack.file();
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection });
  const texts: string[] = [];
  for await (const { workflowId, runId } of client.workflow.list()) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    texts.push(decoded(JSON.parse(historyToJSON(history))));
  }
  await connection.close();
  return texts.join('\n');
}

it('a whole run leaves ids in logs, histories and metrics, but no personal data and no secret', async () => {
  const { baseUrl, metricsUrl, demo } = stack.file();
  const call = async (path: string, body?: unknown, method = 'POST', key = demo.apiKey) => {
    const form = body instanceof FormData;
    const response = await fetch(`${baseUrl}/merchants/me${path}`, {
      method,
      headers: { 'X-API-Key': key, ...(!form && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
    });
    return Object(await response.json());
  };
  const retryPolicy = { maxAttempts: 2, backoffMs: 10 };
  await call('/webhooks', { url: receiver.url, events: ['*'], secret: webhookSecret, retryPolicy });
  const { data: member } = await call('/members', { programId: demo.programs.points, ...person, initialPoints: 95 });
  await call(`/members/${member.id}/points`, { delta: 10, changeMessage: 'Thanks Canaryfirst' }, 'PATCH');
  await call(`/members/${member.id}/redeem`);
  await call(`/members/${member.id}`, { lastName: 'Canarylast-Changed' }, 'PATCH');
  await call(`/members?q=${person.firstName}`, undefined, 'GET');
  await call('/members', { programId: 'nowhere', ...person });
  await call('/members', undefined, 'GET', 'lps_canarykey0000000000000000000000000000000000');
  const form = new FormData();
  form.set(
    'file',
    new Blob([`firstName,email\n${person.firstName},other-${person.email}\nx,${person.email}`], { type: 'text/csv' }),
    'm.csv',
  );
  form.set('programId', demo.programs.points);
  // The worker of a slow machine may be late; then the request is refused.
  const imported = await until(async () => {
    const answer = await call('/members/import', form);
    return answer.error?.code !== 'UNAVAILABLE' && answer;
  });
  expect(imported).toMatchObject({ success: true });
  const joined = await fetch(`${baseUrl}/enroll/demo-points/submit`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ firstName: person.firstName, email: `page-${person.email}` }),
  });
  expect(joined.status).toBe(201);
  const mails = () => readdirSync(join(stackDir, 'mail')).filter((name) => name.endsWith('.eml'));
  const [mail = ''] = await until(() => mails().length > 0 && mails(), { throwingIsNo: true });
  expect(readFileSync(join(stackDir, 'mail', mail), 'utf8')).toContain(`To: page-${person.email}`);
  await until(async () => (await call('/webhooks/delivery-logs?success=false', undefined, 'GET')).data?.total >= 4);

  // Both processes send their spans once a second.
  await until(() => collector.spans.filter(({ name }) => name.startsWith('deliver ')).length >= 4);
  const text = {
    api: readFileSync(join(stackDir, 'logs', 'api.log'), 'utf8'),
    worker: readFileSync(join(stackDir, 'logs', 'worker.log'), 'utf8'),
    printed: stack.printed().replaceAll(demo.apiKey, ''),
    histories: await histories(),
    metrics: await (await fetch(metricsUrl)).text(),
    workerMetrics: await (await fetch(`http://127.0.0.1:${workerMetricsPort}/metrics`)).text(),
    traces: JSON.stringify(collector.spans),
  };
  expect(text.api).toContain('"requestId"');
  expect(text.api).toContain(`"merchantId":"${demo.merchantId}"`);
  expect(text.api).toContain(`points:${member.id}:`);
  expect(text.histories).toContain(member.id);
  expect(text.metrics).toContain('lps_member_changes_total{operation="redeem",outcome="done"} 1');
  expect(text.workerMetrics).toContain('lps_webhook_attempt_duration_seconds_count');
  expect(text.traces).toContain('/api/v1/merchants/me/members/:id/redeem');
  // Anybody with the code can act as the member at a till.
  expect(member.memberCode).toMatch(/^\w{10}$/);
  expect(text.histories).not.toContain(member.memberCode);
  for (const [place, content] of Object.entries(text))
    for (const canary of ['canary', person.phone, demo.apiKey, demo.consoleToken])
      expect([place, canary, content.toLowerCase().includes(canary.toLowerCase())]).toEqual([place, canary, false]);
});
