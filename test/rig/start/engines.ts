// Starts the real engines for a test run, on free ports and with a temporary folder. `stop` ends them and removes the
// folder. The supervisor's reaper ends them when the test runner is killed.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDirOf } from '../../../stack/engines/cache.js';
import { mongodbPlan, mongodbUriAt } from '../../../stack/engines/mongodb.js';
import { type MongodbKind, obtainMongodb } from '../../../stack/engines/mongodbSources.js';
import { engineEnv } from '../../../stack/engines/startEngines.js';
import { temporalPlan } from '../../../stack/engines/temporal.js';
import { obtainTemporal } from '../../../stack/engines/temporalSources.js';
import { findPort } from '../../../stack/ports.js';
import type { ProcessPlan } from '../../../stack/supervisedProcess.js';
import { createSupervisor } from '../../../stack/supervisor.js';
import { createTerminal, type Terminal } from '../../../stack/terminal.js';

export interface TestEngines {
  /** Empty when MongoDB was not requested. */
  mongodbUri: string;
  /** The kind of MongoDB that runs; undefined when MongoDB was not requested. */
  mongodbKind: MongodbKind | undefined;
  /** Empty when Temporal was not requested. */
  temporalAddress: string;
  stop(): Promise<void>;
}

export async function startEngines({ mongo = true, temporal = true } = {}): Promise<TestEngines> {
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-test-'));
  const terminal = createTerminal(process.stderr);
  const supervisor = createSupervisor({ logDir: join(folder, 'logs'), terminal, onChange: () => undefined });
  const stop = async () => {
    await supervisor.stopAll(['temporal', 'mongodb']);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const [mongodb, temporalAddress] = await Promise.all([
      mongo ? startMongodb(terminal, supervisor.start, join(folder, 'mongodb')) : undefined,
      temporal ? startTemporal(terminal, supervisor.start) : '',
    ]);
    return { mongodbUri: mongodb?.uri ?? '', mongodbKind: mongodb?.kind, temporalAddress, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Start = (plan: ProcessPlan) => Promise<void>;

const search = { cacheDir: cacheDirOf(process.env), env: process.env };
const signal = new AbortController().signal;

async function startMongodb(terminal: Terminal, start: Start, dataDir: string) {
  return await terminal.step('MongoDB', async (task) => {
    const engine = await obtainMongodb(search, { task, signal });
    const port = await findPort('127.0.0.1');
    await start(mongodbPlan({ engine, port, dataDir, env: engineEnv(process.env) }));
    return { result: { uri: mongodbUriAt(port), kind: engine.kind }, said: engine.said };
  });
}

/**
 * The dev server's database can stay interrupted after a call that was cancelled while it wrote ("interrupted (9)").
 * Then it knows no namespace any more until it starts again; without that, each later test of the fork would fail.
 */
const interrupted = /Namespace default is not found/;

async function startTemporal(terminal: Terminal, start: Start): Promise<string> {
  return await terminal.step('Temporal', async (task) => {
    const engine = await obtainTemporal(search, { task, signal });
    const port = await findPort('127.0.0.1');
    await start({
      ...temporalPlan({ engine, namespace: 'default', port, env: engineEnv(process.env) }),
      watch: () => ({ probe: async () => undefined, hopeless: interrupted }),
    });
    return { result: `127.0.0.1:${port}`, said: engine.said };
  });
}
