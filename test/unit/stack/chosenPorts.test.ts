// The ports of `npm start` when others listen on the usual ones.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { choosePorts } from '../../../stack/chosenPorts.js';
import { readSettings } from '../../../stack/settings.js';

let folder: string;
let others: Server[];
let said: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-ports-'));
  [others, said] = [[], []];
});
afterEach(() => {
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
  const port = await aTakenPort();
  others.pop()?.close();
  const chosen = await choose(settingsOf({ PORT: String(port), METRICS_PORT: '0' }));
  expect(chosen.api).toBe(port);
  expect(chosen.metrics).toBeGreaterThan(0);
  expect(said).toEqual([]);
});
