// With TEMPORAL_CODEC_KEY Temporal stores nothing but ciphertext of inputs, results, errors and summaries; operators
// decrypt it at the codec endpoint.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../../../platform/metrics/metrics.js';
import { type MetricsServer, serveMetrics } from '../../../platform/metrics/metricsServer.js';
import { createCodecEndpoint } from '../../../platform/temporal/codecEndpoint.js';
import { dataConverterOf } from '../../../platform/temporal/payloadCodec.js';
import { prepareNamespace } from '../../../platform/temporal/prepareNamespace.js';
import { enrollId } from '../../../schemas/shared/ids.js';
import { cacheDirOf } from '../../../stack/engines/cache.js';
import { obtainTemporal } from '../../../stack/engines/temporalSources.js';
import { bundleWorkflows } from '../../../worker/workflowBundle.js';
import { replayed } from '../../rig/checks/replayed.js';
import { until } from '../../rig/checks/until.js';
import { startReceiver } from '../../rig/standins/receiver.js';
import { status } from '../../rig/standins/responders.js';
import { forkEngines } from '../../rig/start/forkEngines.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const key = Buffer.alloc(32, 3).toString('base64');
const namespace = 'encrypted';
const token = 'a-token-for-the-operators-of-the-tests';
const origin = 'https://temporal.example';

let folder: string;
let workflowBundle: string;
let service: TestService;
let merchant: TestMerchant;
let memberId: string;
let metricsServer: MetricsServer;
let endpoint: string;
/** Sees what Temporal stores. */
let plain: Client;
let deliveryId: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-codec-'));
  workflowBundle = join(folder, 'workflows.cjs');
  writeFileSync(workflowBundle, (await bundleWorkflows('encrypted')).code);
  const connection = await Connection.connect({ address: forkEngines().temporalAddress });
  // A namespace of its own: workers without the key could not continue the relays of this service.
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('3 days') });
  await until(
    async () => {
      await prepareNamespace(connection, { namespace, signal: AbortSignal.timeout(30_000) });
      return true;
    },
    { throwingIsNo: true },
  );
  service = await startService({
    env: {
      TEMPORAL_NAMESPACE: namespace,
      TEMPORAL_CODEC_KEY: key,
      TEMPORAL_CODEC_TOKEN: token,
      TEMPORAL_CODEC_ORIGIN: `${origin}/`,
    },
    workflowBundle,
  });
  const { config, log } = service.deps;
  plain = new Client({ connection, namespace });
  const codec = createCodecEndpoint(config);
  const own = { metrics: createMetrics(), log, host: '127.0.0.1', port: 0, healthy: () => true };
  metricsServer = await serveMetrics({ ...own, codec });
  endpoint = `http://127.0.0.1:${metricsServer.port}/codec`;

  const receiver = await startReceiver(status(500));
  merchant = await aMerchant(service);
  await merchant.call('/merchants/me/webhooks', {
    body: { url: receiver.url, events: ['*'], retryPolicy: { maxAttempts: 2, backoffMs: 10 } },
  });
  memberId = (await merchant.enroll()).id;
  const failed = await until(async () => {
    const query = `MerchantId = '${merchant.id}' AND ExecutionStatus = 'Failed'`;
    for await (const { workflowId } of plain.workflow.list({ query })) return workflowId;
    return undefined;
  });
  deliveryId = failed;
  await service.client.workflow.getHandle(enrollId(memberId)).result();
  await receiver.stop();
});
afterAll(async () => {
  await metricsServer.close();
  await plain.connection.close();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a history
type Json = any;

const stored = async (workflowId: string): Promise<Json> =>
  JSON.parse(historyToJSON(await plain.workflow.getHandle(workflowId).fetchHistory()));

/**
 * The parts in plain text: the server indexes search attributes, and `data` of a marker contains only data of the SDK.
 */
const inClear = new Set(['searchAttributes', 'data']);

function payloadsIn(value: Json, name = ''): Json[] {
  if (typeof value !== 'object' || value === null || (inClear.has(name) && !Array.isArray(value))) return [];
  if (value.metadata?.encoding !== undefined) return [value];
  return Object.entries(value).flatMap(([inner, part]) => payloadsIn(part, inner));
}

function failuresIn(value: Json): Json[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = value.failure ? [value.failure] : [];
  return [...own, ...Object.values(value).flatMap(failuresIn)];
}

const textOf = (base64: string) => Buffer.from(base64, 'base64').toString('utf8');

const decode = (payloads: Json[], headers: Record<string, string> = { Authorization: `Bearer ${token}` }) =>
  fetch(`${endpoint}/decode`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Namespace': 'default', ...headers },
    body: JSON.stringify({ payloads }),
  });

describe('what Temporal stores', () => {
  it('has no plain payload: inputs, results, local activities, summaries', async () => {
    for (const workflowId of [enrollId(memberId), deliveryId]) {
      const history = await stored(workflowId);
      const payloads = payloadsIn(history);
      expect(payloads.length).toBeGreaterThan(3);
      expect(payloads.map(({ metadata }) => textOf(metadata.encoding))).toEqual(payloads.map(() => 'binary/encrypted'));
      const [started] = history.events;
      expect(started.userMetadata.summary.metadata['encryption-key-id']).toBeDefined();
      const bytes = payloads.map(({ data }) => Buffer.from(data, 'base64').toString('latin1')).join();
      expect(bytes).not.toMatch(/eventId|merchantId|json\/plain/);
    }
  });

  it('has no plain error', async () => {
    const failures = failuresIn(await stored(deliveryId));
    expect(failures.length).toBeGreaterThan(0);
    for (const { message, stackTrace = '', encodedAttributes } of failures) {
      expect([message, stackTrace]).toEqual(['Encoded failure', '']);
      expect(textOf(encodedAttributes.metadata.encoding)).toBe('binary/encrypted');
    }
    await expect(service.client.workflow.getHandle(deliveryId).result()).rejects.toMatchObject({
      cause: { message: expect.not.stringContaining('Encoded') },
    });
  });

  it('from before the codec was on still replays', async () => {
    const recorded = join(import.meta.dirname, '..', '..', 'replay', 'histories');
    const files = readdirSync(recorded, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));
    const histories = files.map((file) => ({
      workflowId: file,
      history: historyFromJSON(JSON.parse(readFileSync(join(recorded, file), 'utf8'))),
    }));
    const dataConverter = dataConverterOf({ TEMPORAL_CODEC_KEY: key });
    const options = { workflowBundle: { codePath: workflowBundle }, dataConverter };
    let count = 0;
    for await (const { workflowId, error } of replayed(options, histories)) {
      expect([workflowId, error]).toEqual([workflowId, undefined]);
      count += 1;
    }
    expect(count).toBeGreaterThan(10);
  });

  it('can still be read after a rotation of the key', async () => {
    const [summary] = payloadsIn((await stored(enrollId(memberId))).events[0].userMetadata);
    const other = Buffer.alloc(32, 4).toString('base64');
    const read = async (ring: string) => {
      const [codec] = dataConverterOf({ TEMPORAL_CODEC_KEY: ring }).payloadCodecs ?? [];
      const bytes = Object.entries(summary.metadata).map(([name, value]) => [
        name,
        Buffer.from(String(value), 'base64'),
      ]);
      const payload = { metadata: Object.fromEntries(bytes), data: Buffer.from(summary.data, 'base64') };
      return Buffer.from((await codec?.decode([payload]))?.[0]?.data ?? []).toString('utf8');
    };
    expect(await read(`${other},${key}`)).toContain(`enroll ${memberId}`);
    await expect(read(other)).rejects.toThrow(/which is not in TEMPORAL_CODEC_KEY/);
  });
});

describe('the codec endpoint', () => {
  it('decodes for an operator, by token and by basic login', async () => {
    const payloads = payloadsIn(await stored(enrollId(memberId)));
    const basic = Buffer.from(`me:${token}`).toString('base64');
    for (const Authorization of [`Bearer ${token}`, `Basic ${basic}`]) {
      const answer = await decode(payloads, { Authorization });
      expect(answer.status).toBe(200);
      const decoded: Json = await answer.json();
      expect(decoded.payloads).toHaveLength(payloads.length);
      const texts = decoded.payloads.map(({ data }: { data: string }) => textOf(data)).join();
      expect(texts).toContain(`"memberId":"${memberId}"`);
      expect(texts).toContain(`enroll ${memberId}`);
    }
  });

  it('passes payloads that are not encrypted', async () => {
    const payload = { metadata: { encoding: btoa('json/plain') }, data: btoa('"x"') };
    expect(await (await decode([payload])).json()).toEqual({ payloads: [payload] });
  });

  it.each([
    {},
    { Authorization: 'Bearer wrong' },
    { Authorization: token },
    { Authorization: `Basic ${btoa('me:no')}` },
  ])('refuses %j', async (headers) => {
    const payloads = payloadsIn(await stored(enrollId(memberId)));
    const answer = await decode(payloads, headers as Record<string, string>);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
  });

  it("may be called only by pages of the UI's origin", async () => {
    const preflight = await fetch(`${endpoint}/decode`, { method: 'OPTIONS', headers: { Origin: origin } });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers': expect.stringContaining('X-Namespace'),
    });
    const answer = await decode([], { Origin: origin, Authorization: `Bearer ${token}` });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    for (const other of ['https://evil.example', 'null']) {
      const refused = await decode([], { Origin: other, Authorization: `Bearer ${token}` });
      expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    }
  });

  it.each([
    '',
    '[]',
    '{"payloads":1}',
    '{"payloads":[1]}',
    '{"payloads":[{"data":"x","metadata":{"encoding":"YmluYXJ5L2VuY3J5cHRlZA=="}}]}',
  ])('answers %j with 400', async (body) => {
    const headers = { Authorization: `Bearer ${token}` };
    expect((await fetch(`${endpoint}/decode`, { method: 'POST', headers, body })).status).toBe(400);
  });

  it('refuses more than 8 MB', async () => {
    const answer = await decode([{ metadata: {}, data: 'A'.repeat(9_000_000) }]);
    expect(answer.status).toBe(413);
  });

  it("serves Temporal's own command line", async () => {
    const search = { cacheDir: cacheDirOf(process.env), env: process.env };
    const cli = await obtainTemporal(search, { task: { say: () => {} }, signal: new AbortController().signal });
    const show = async (...more: string[]) => {
      const args = [
        'workflow',
        'show',
        '--workflow-id',
        enrollId(memberId),
        '--namespace',
        namespace,
        '--output',
        'json',
        '--address',
      ];
      const { stdout } = await promisify(execFile)(cli.path, [...args, forkEngines().temporalAddress, ...more]);
      // The command prints payloads as JSON or as base64.
      return stdout.replaceAll(/"[A-Za-z0-9+/]+={0,2}"/g, (quoted) => `${quoted} ${textOf(quoted.slice(1, -1))}`);
    };
    const input = new RegExp(`"memberId": ?"${memberId}"`);
    expect(await show()).not.toMatch(input);
    expect(await show('--codec-endpoint', endpoint, '--codec-auth', `Bearer ${token}`)).toMatch(input);
  });

  it('does not exist without a key or without a token', () => {
    const { config } = service.deps;
    expect(createCodecEndpoint({ ...config, TEMPORAL_CODEC_TOKEN: undefined })).toBeUndefined();
    expect(createCodecEndpoint({ ...config, TEMPORAL_CODEC_KEY: undefined })).toBeUndefined();
    expect(dataConverterOf({ TEMPORAL_CODEC_KEY: undefined })).toEqual({});
  });
});
