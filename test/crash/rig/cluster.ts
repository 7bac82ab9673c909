// A whole service of separate processes. A test may kill, stop and continue each of them at any time; the supervisor of
// `npm start` starts a dead one again. All data is on disk, so acknowledged changes must survive.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import pino from 'pino';
import type { CrashPoint } from '../../../platform/crashPoint.js';
import { type ClosableDeps, createDeps } from '../../../platform/createDeps.js';
import { readConfig } from '../../../schemas/shared/config.schema.js';
import { cacheDirOf } from '../../../stack/engines/cache.js';
import { mongodbPlan, mongodbUriAt } from '../../../stack/engines/mongodb.js';
import { obtainMongodb } from '../../../stack/engines/mongodbSources.js';
import { engineEnv } from '../../../stack/engines/startEngines.js';
import { temporalPlan } from '../../../stack/engines/temporal.js';
import { obtainTemporal } from '../../../stack/engines/temporalSources.js';
import { findPort } from '../../../stack/ports.js';
import { startReaper } from '../../../stack/reaper.js';
import { apiPlan, workerPlan } from '../../../stack/services.js';
import { type ProcessPlan, type SupervisedProcess, superviseProcess } from '../../../stack/supervisedProcess.js';
import { createTerminal } from '../../../stack/terminal.js';
import { until } from '../../../stack/until.js';
import { migrate } from '../../../worker/migrate.js';
import { watchLogFolder } from '../../rig/checks/failureLog.js';

export const apiNames = ['api-1', 'api-2'] as const;
export const workerNames = ['worker-1', 'worker-2'] as const;
export const engineNames = ['mongodb', 'temporal'] as const;
export type ProcessName = (typeof apiNames)[number] | (typeof workerNames)[number] | (typeof engineNames)[number];

export type Role = 'api' | 'worker';

const host = '127.0.0.1';
const secretsKey = Buffer.alloc(32, 7).toString('base64');

export interface Cluster {
  folder: string;
  /** With the prefix `/api/v1`. */
  apis: Record<(typeof apiNames)[number], string>;
  /** The environment of the processes. */
  env: Record<string, string>;
  /** The rig's own access to the database. It must not be used while MongoDB is stopped. */
  deps: ClosableDeps;
  temporal: Client;
  /** The pid of the process; undefined while it is dead. */
  pidOf(name: ProcessName): number | undefined;
  /** Sends a signal; false when the process is dead. */
  signal(name: ProcessName, signal: NodeJS.Signals): boolean;
  /** Each death without a stop request, oldest first. */
  endings: { name: ProcessName; ending: string; at: number }[];
  /** Each time a process was ready again after a restart, oldest first. */
  recoveries: { name: ProcessName; tookMs: number; at: number }[];
  /** Each engine that was killed because it was stuck, oldest first. */
  stuck: { name: ProcessName; reason: string }[];
  /** Resolves when all processes live and are ready. */
  allUp(withinMs?: number): Promise<void>;
  /** Stops a process until `up` is called. */
  down(name: ProcessName): Promise<void>;
  up(name: ProcessName): Promise<void>;
  /** Kills Temporal, deletes all its data and starts it again. */
  wipeTemporal(): Promise<void>;
  /**
   * Arms a crash point: the next process of that role that reaches it dies, once. Returns a function that returns
   * whether one has died.
   */
  arm(role: Role, point: CrashPoint): () => boolean;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  env?: Record<string, string>;
  processes?: readonly ProcessName[];
  /** Crash points that can be armed (platform/crashPoint.ts), for the APIs and for the workers. */
  crashPoints?: Record<Role, readonly CrashPoint[]>;
  /** True for engines that are watched and restarted when they are stuck, as with `npm start`. */
  watched?: boolean;
  /** Modules that break a guarantee, loaded before the service's code. */
  preload?: { api?: string; worker?: string };
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { processes = [...engineNames, ...apiNames, ...workerNames], preload = {}, watched = false } = options;
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-crash-'));
  const logs = join(folder, 'logs');
  const marks = join(folder, 'marks');
  const dbFile = join(folder, 'temporal.db');
  for (const each of [logs, marks]) mkdirSync(each);
  watchLogFolder(logs);
  const ports = Object.fromEntries(
    await Promise.all([...apiNames, ...engineNames].map(async (name) => [name, await findPort(host)] as const)),
  );
  const portOf = (name: string): number => ports[name] ?? 0;
  const apiUrl = (name: string): string => `http://${host}:${portOf(name)}`;
  const env: Record<string, string> = {
    ...(engineEnv(process.env) as Record<string, string>),
    MONGODB_URI: mongodbUriAt(portOf('mongodb')),
    TEMPORAL_ADDRESS: `${host}:${portOf('temporal')}`,
    HOST: host,
    METRICS_PORT: '0',
    WORKER_METRICS_PORT: '0',
    PUBLIC_URL: apiUrl('api-1'),
    CONSOLE_JWT_SECRET: 'a-console-secret-for-tests-only-0123456789',
    SECRETS_KEY: secretsKey,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    RATE_LIMIT_AUTHENTICATED: '1000000000',
    RATE_LIMIT_PUBLIC: '1000000000',
    WALLET_REGISTRATIONS_PER_PASS: '1000000000',
    WALLET_CALLS_PER_ADDRESS: '1000000000',
    MERCHANT_MAX_RUNNING_BATCHES: '10000',
    MERCHANT_MAX_CAMPAIGNS_A_DAY: '10000',
    RELAY_SHARDS: '1',
    ERASURE_LAST_RUN_MS: '1000',
    LOG_LEVEL: 'warn',
    ...options.env,
  };

  const config = readConfig(env);
  const notArmed = 'not armed';
  const markOf = (role: Role, point: CrashPoint): string => join(marks, `${role}.${point}`);
  const points: Record<Role, readonly CrashPoint[]> = options.crashPoints ?? { api: [], worker: [] };
  const crashAt = (role: Role): string => points[role].map((point) => `${point}@${markOf(role, point)}`).join(',');
  // An existing mark file disarms the point.
  for (const role of ['api', 'worker'] as const)
    for (const point of points[role]) writeFileSync(markOf(role, point), notArmed);

  const reaper = startReaper();
  const terminal = createTerminal(process.stderr);
  const pids = new Map<ProcessName, number>();
  const ready = new Set<ProcessName>();
  const supervised = new Map<ProcessName, SupervisedProcess>();
  const plans = new Map<ProcessName, ProcessPlan>();
  const endings: Cluster['endings'] = [];
  const recoveries: Cluster['recoveries'] = [];
  const stuck: Cluster['stuck'] = [];
  const keep = () => reaper.watch([...pids.values()]);

  async function planOf(name: ProcessName): Promise<ProcessPlan> {
    const search = { cacheDir: cacheDirOf(process.env), env: process.env };
    const signal = new AbortController().signal;
    if (name === 'mongodb') {
      return terminal.step('MongoDB', async (task) => {
        const engine = await obtainMongodb(search, { task, signal });
        const plan = mongodbPlan({
          engine,
          port: portOf(name),
          dataDir: join(folder, 'mongodb'),
          env: engineEnv(process.env),
          ...(watched && { database: config.MONGODB_DATABASE }),
        });
        // API and workers start after MongoDB.
        if (engine.kind === 'secantusd') env.MONGODB_EMBEDDED = 'true';
        return { result: plan, said: engine.said };
      });
    }
    if (name === 'temporal') {
      return terminal.step('Temporal', async (task) => {
        const engine = await obtainTemporal(search, { task, signal });
        const run = { engine, namespace: 'default', port: portOf(name), dbFile, env: engineEnv(process.env) };
        return { result: temporalPlan({ ...run, watched }), said: engine.said };
      });
    }
    const role = name.startsWith('api') ? 'api' : 'worker';
    const own = { ...env, PORT: String(portOf(name)), ...(points[role].length > 0 && { CRASH_AT: crashAt(role) }) };
    const plan = role === 'api' ? apiPlan(own, apiUrl(name)) : workerPlan(own);
    const preloaded = preload[role];
    if (preloaded === undefined) return { ...plan, name, title: name };
    const starter = fileURLToPath(new URL('preload.mjs', import.meta.url));
    const args = [...plan.args.slice(0, -1), starter, preloaded, ...plan.args.slice(-1)];
    return { ...plan, name, title: name, args };
  }

  async function up(name: ProcessName): Promise<void> {
    const plan = plans.get(name) ?? (await planOf(name));
    plans.set(name, plan);
    const one = superviseProcess(plan, join(logs, `${name}.log`), {
      started(pid) {
        pids.set(name, pid);
        keep();
      },
      died(ending) {
        pids.delete(name);
        ready.delete(name);
        endings.push({ name, ending, at: Date.now() });
        keep();
      },
      stuck(reason) {
        console.log(`  ${new Date().toISOString()} ${name} is stuck: ${reason}`);
        stuck.push({ name, reason });
      },
      recovered(tookMs) {
        ready.add(name);
        recoveries.push({ name, tookMs, at: Date.now() });
      },
      gone() {
        pids.delete(name);
        ready.delete(name);
        keep();
      },
    });
    supervised.set(name, one);
    await one.start();
    ready.add(name);
  }

  async function down(name: ProcessName): Promise<void> {
    await supervised.get(name)?.stop();
    supervised.delete(name);
  }

  const deps = createDeps({ config, log: pino({ level: 'silent' }), timeouts: 'tool' });
  const connection = Connection.lazy({
    address: config.TEMPORAL_ADDRESS ?? '',
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 500 },
  });

  const cluster: Cluster = {
    folder,
    apis: { 'api-1': `${apiUrl('api-1')}/api/v1`, 'api-2': `${apiUrl('api-2')}/api/v1` },
    env,
    deps,
    temporal: new Client({ connection, namespace: 'default' }),
    pidOf: (name) => pids.get(name),
    signal(name, signal) {
      const pid = pids.get(name);
      if (pid === undefined) return false;
      try {
        return process.kill(pid, signal);
      } catch {
        return false;
      }
    },
    endings,
    recoveries,
    stuck,
    allUp: async (withinMs = 120_000) => {
      const allThere = () => [...supervised.keys()].every((name) => pids.has(name) && ready.has(name));
      await until(async () => allThere(), 50, AbortSignal.timeout(withinMs));
    },
    down,
    up,
    async wipeTemporal() {
      // Killed, so that no work ends while it stops.
      supervised.get('temporal')?.kill();
      await down('temporal');
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${dbFile}${suffix}`, { force: true });
      await up('temporal');
    },
    arm(role, point) {
      if (!points[role].includes(point)) throw new Error(`The ${role} was not started with ${point}.`);
      const mark = markOf(role, point);
      rmSync(mark, { force: true });
      return () => existsSync(mark) && readFileSync(mark, 'utf8') !== notArmed;
    },
    async stop() {
      for (const name of [...apiNames, ...workerNames, ...engineNames]) cluster.signal(name, 'SIGCONT');
      await connection.close();
      await deps.close();
      // The data is not needed any more, so the processes are killed at once.
      for (const one of supervised.values()) one.kill();
      await Promise.all([...supervised.keys()].map(down));
      reaper.dismiss();
      if (process.env.KEEP_CRASH_FOLDER) console.error(`kept: ${folder}`);
      else rmSync(folder, { recursive: true, force: true });
    },
  };

  try {
    await Promise.all(engineNames.filter((name) => processes.includes(name)).map(up));
    await migrate(deps);
    await Promise.all([...apiNames, ...workerNames].filter((name) => processes.includes(name)).map(up));
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
