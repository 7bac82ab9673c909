// The ports of `npm start` when others listen on the usual ones.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { choosePorts } from '../../../stack/chosenPorts.js';
import { findPort } from '../../../stack/ports.js';
import { readSettings } from '../../../stack/settings.js';

let folder: string;
let others: Server[];
let said: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-ports-'));
  [others, said] = [[], []];
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const other of others) other.close();
  rmSync(folder, { recursive: true, force: true });
});

async function aTakenPort(): Promise<number> {
  const other = createServer().listen(0, '127.0.0.1');
  others.push(other);
  await once(other, 'listening');
  return (other.address() as AddressInfo).port;
}

const settingsOf = (env: NodeJS.ProcessEnv) => readSettings({ STACK_DIR: folder, ...env });
const choose = (settings: ReturnType<typeof settingsOf>) => choosePorts(settings, (line) => said.push(line));

test('usual ports that are taken are replaced by the next free ones, and each is said', async () => {
  const [port, metricsPort] = [await aTakenPort(), await aTakenPort()];
  const chosen = await choose({ ...settingsOf({}), port, metricsPort });
  expect(chosen.api).toBeGreaterThan(port);
  expect(chosen.metrics).toBeGreaterThan(metricsPort);
  expect(new Set(Object.values(chosen)).size).toBe(Object.keys(chosen).length);
  expect(said).toEqual([
    `Port ${port} is taken; the API listens on ${chosen.api}.`,
    `Port ${metricsPort} is taken; metrics are on ${chosen.metrics}.`,
  ]);
});

test('ports that were asked for and are taken are refused, all in one message', async () => {
  const names = ['PORT', 'METRICS_PORT', 'WORKER_METRICS_PORT', 'STACK_MONGO_PORT', 'STACK_TEMPORAL_PORT'];
  const env = Object.fromEntries(await Promise.all(names.map(async (name) => [name, String(await aTakenPort())])));
  const failure = await choose(settingsOf(env)).catch((error: unknown) => error);
  for (const [name, port] of Object.entries(env)) expect(String(failure)).toContain(`${name}=${port} on 127.0.0.1`);
});

test('a free port that was asked for is used, and 0 asks for any', async () => {
  const port = await findPort('127.0.0.1');
  const chosen = await choose(settingsOf({ PORT: String(port), METRICS_PORT: '0' }));
  expect(chosen.api).toBe(port);
  expect(chosen.metrics).toBeGreaterThan(0);
  expect(said).toEqual([]);
});

test('no port is chosen twice, however few there are', async () => {
  const [lowest = 0] = (process.env.STACK_PORTS ?? '').split('-').map(Number);
  for (let start = 0; start < 100; start += 1) {
    vi.stubEnv('STACK_PORTS', `${lowest + 19 * start}-${lowest + 19 * (start + 1)}`);
    rmSync(join(folder, 'ports.json'), { force: true });
    const chosen = await choose(settingsOf({ PORT: '0', METRICS_PORT: '0' }));
    expect(Object.values(chosen)).toHaveLength(new Set(Object.values(chosen)).size);
  }
});

test('a start has the ports of the last one, but for those that were asked for now', async () => {
  const anyPorts = { PORT: '0', METRICS_PORT: '0' };
  const first = await choose(settingsOf(anyPorts));
  expect(await choose(settingsOf(anyPorts))).toEqual(first);
  const { temporal, workerMetrics, ...kept } = first;
  const env = { ...anyPorts, PORT: String(temporal), STACK_TEMPORAL_UI_PORT: String(workerMetrics) };
  const second = await choose(settingsOf(env));
  expect(second).toMatchObject({ ...kept, api: temporal, temporalUi: workerMetrics });
  expect(new Set(Object.values(second)).size).toBe(Object.keys(second).length);
});

test.each([
  { PORT: 1, METRICS_PORT: 0 },
  { PORT: 3, METRICS_PORT: 2 },
])('the usual neighbours of ports that were asked for are not chosen again: $PORT, $METRICS_PORT', async (asked) => {
  const port = await findPort('127.0.0.1');
  const env = { PORT: String(port + asked.PORT), METRICS_PORT: String(port + asked.METRICS_PORT) };
  const chosen = await choose(settingsOf(env));
  expect(chosen).toMatchObject({ api: Number(env.PORT), metrics: Number(env.METRICS_PORT) });
  expect(chosen.workerMetrics).not.toBe(chosen.api);
});

test('a usual port whose next one was asked for is replaced by another', async () => {
  const port = await findPort('127.0.0.1');
  others.push(createServer().listen(port, '127.0.0.1'));
  const chosen = await choose({ ...settingsOf({ METRICS_PORT: String(port + 1) }), port });
  expect(chosen).toMatchObject({ metrics: port + 1 });
  expect(chosen.api).toBeGreaterThan(port + 1);
});

test('the highest port for metrics gives the worker another one', async () => {
  const chosen = await choose(settingsOf({ PORT: '0', METRICS_PORT: '65535' }));
  expect(chosen.metrics).toBe(65_535);
  expect(chosen.workerMetrics).toBeLessThan(65_535);
});

test('one port that was asked for several times is refused, with the name that has it', async () => {
  const port = String(await findPort('127.0.0.1'));
  const env = { METRICS_PORT: port, STACK_MONGO_PORT: port, PORT: '0' };
  const failure = await choose(settingsOf(env)).catch((error: unknown) => error);
  expect(String(failure)).toContain(`These ports are taken:\n  STACK_MONGO_PORT=${port}, by METRICS_PORT\n`);
});
