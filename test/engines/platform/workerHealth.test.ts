// The health of the worker process, as an orchestrator asks for it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import { engineEnv } from '../../../stack/engines/startEngines.js';
import { findPort } from '../../../stack/ports.js';
import { workflowBundle } from '../../../worker/workflowBundle.js';
import { until } from '../../rig/checks/until.js';
import { aWay, type Way } from '../../rig/standins/way.js';
import { forkEngines } from '../../rig/start/forkEngines.js';
import { startService, type TestService } from '../../rig/start/service.js';

const root = join(import.meta.dirname, '..', '..', '..');

let service: TestService;
let way: Way;
let worker: ChildProcess | undefined;
let port: number;

beforeAll(async () => {
  // Its worker finds the bundle then.
  await workflowBundle('plain');
  service = await startService({ worker: false });
  way = await aWay(forkEngines().temporalAddress);
});
afterEach(() => {
  worker?.kill('SIGKILL');
});
afterAll(async () => {
  way.shut();
  await service.stop();
});

async function start(): Promise<ChildProcess> {
  port = await findPort('127.0.0.1');
  const { MONGODB_URI, MONGODB_DATABASE, MONGODB_EMBEDDED, SECRETS_KEY } = service.deps.config;
  worker = spawn(process.execPath, ['--import', 'tsx', 'worker/main.ts'], {
    cwd: root,
    env: {
      ...engineEnv(process.env),
      ...{ MONGODB_URI, MONGODB_DATABASE, MONGODB_EMBEDDED: String(MONGODB_EMBEDDED), SECRETS_KEY },
      ...{ TEMPORAL_ADDRESS: way.address, TEMPORAL_NAMESPACE: `health-${newId()}` },
      ...{ WORKER_METRICS_PORT: String(port), CONSOLE_JWT_SECRET: 'a-console-secret-for-tests-only-0123456789' },
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return worker;
}

async function ask(path: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  return `${answer.status} ${(await answer.text()).trim()}`;
}
const answers = (path: string, wanted: string) =>
  until(async () => (await ask(path)) === wanted, { throwingIsNo: true, seen: () => ask(path) });

it('a worker that starts while Temporal is away says why it is not ready, and ends when it is asked to', async () => {
  way.shut();
  const started = await start();
  await answers('/readyz', '503 it is not connected to Temporal yet');
  expect(await ask('/healthz')).toBe('503 not running');
  expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toMatch(/^lps_unpolled_queues 6$/m);
  started.kill('SIGTERM');
  expect(await once(started, 'exit')).toEqual([0, null]);
  await way.open();
});

it('a worker is ready when it polls its queues, and says that it is not while it stops', async () => {
  const started = await start();
  await answers('/readyz', '200 ok');
  expect(await ask('/healthz')).toBe('200 ok');
  const unpolled = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(unpolled).toMatch(/^lps_unpolled_queues 0$/m);
  // So that it does not end at once.
  way.block();
  started.kill('SIGTERM');
  await answers('/readyz', '503 it is stopping');
  way.unblock();
  expect(await once(started, 'exit')).toEqual([0, null]);
});
