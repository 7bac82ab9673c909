// The whole effect of a points change by engines that users would pick instead of this service: a row changed, an event
// stored, one signed POST delivered and logged, with retries on. An engine that cannot be installed or started is left
// out with its reason.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { envelopeBytes } from '../../schemas/events/events.schema.js';
import { type Bench, log } from './bench.js';
import { type Child, startChild } from './child.js';
import { wholeEffects } from './effect.js';
import type { Place } from './engines/engine.js';
import type { EngineName } from './engines/process.js';
import { type Measured, ofRates, ownOf, type Rounds, sideBySide } from './load.js';
import { addMembers, aMerchant } from './merchant.js';
import { cpuSecondsOf, treeSecondsOf } from './processes.js';
import { type ProcessList, succeeded } from './processList.js';
import { type BenchReceiver, startReceiver, subscribe } from './receiver.js';
import { notCompared, processorRow, type Row, reasonOf, round } from './row.js';
import { stores } from './stores.js';
import { changeOf } from './webhooks.js';

const callers = 64;
const warmMs = 1_000;
const file = 'engines/process.ts';

interface EngineFacts {
  title: string;
  store: keyof typeof stores;
  /** Whether it has a worker besides its caller. */
  hasWorker: boolean;
  /** Whether its rows are in the MongoDB of the stack. */
  isOnMongodb?: true;
}

const engines: Record<EngineName, EngineFacts> = {
  restate: { title: 'Restate', store: 'restate', hasWorker: true },
  dbos: { title: 'DBOS on PostgreSQL', store: 'postgres', hasWorker: false },
  bullmq: { title: 'BullMQ on Redis and MongoDB', store: 'redis', hasWorker: true, isOnMongodb: true },
  graphileWorker: { title: 'graphile-worker on PostgreSQL', store: 'postgres', hasWorker: true },
  pgBoss: { title: 'pg-boss on PostgreSQL', store: 'postgres', hasWorker: true },
};
const names = Object.keys(engines) as EngineName[];

const folder = fileURLToPath(new URL('engines', import.meta.url));
const installWithinMs = 120_000;
const startWithinMs = 60_000;
/** From the last change to its logged delivery. */
const logWithinMs = 90_000;

/** Rejects when `work` takes longer. */
const within = <T>(ms: number, what: string, work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    sleep(ms, undefined, { ref: false }).then(() => {
      throw new Error(`${what} took longer than ${ms} ms`);
    }),
  ]);

/**
 * Installs the packages of the engines, unless those of the lock file are installed. They are the newest that run on
 * Node 20; that of DBOS is as old as its data source. Throws when that fails.
 */
async function installEngines(processes: ProcessList): Promise<void> {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const installed = join(folder, 'node_modules', '.installed');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return;
  const args = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  const installing = spawn('npm', args, { stdio: ['ignore', 'ignore', 'inherit'], detached: true });
  await succeeded(processes, installing, 'The install of its packages', installWithinMs);
  writeFileSync(installed, lock);
}

/** Tried once, because without a network it takes long to fail. */
let install: Promise<void> | undefined;

interface RunningEngine {
  /** Makes changes for this time. Resolves when all of their deliveries are logged. */
  measure: (ms: number) => Promise<Measured>;
  /** Of all its processes. */
  pids: number[];
  stop: () => Promise<void>;
}

/** Throws when its packages cannot be installed, or its store or one of its processes does not start. */
async function startEngine(
  bench: Bench,
  name: EngineName,
  at: Pick<Place, 'url' | 'envelope'>,
): Promise<RunningEngine> {
  const { title, store, hasWorker, isOnMongodb } = engines[name];
  const { MONGODB_URI: mongodbUri, MONGODB_DATABASE: mongodbDatabase } = bench.deps.config;
  if (!isOnMongodb) {
    install ??= installEngines(bench.processes);
    await install;
  }
  const { pid, stop: stopStore, ...addresses } = await stores[store](bench.processes);
  const place: Place = { name, ...at, ...addresses, mongodbUri, mongodbDatabase };
  const children: Child[] = [];
  const start = async (role: 'caller' | 'worker') => {
    const starting = startChild(bench.processes, file, [role, JSON.stringify(place)]);
    const { child } = await within(startWithinMs, `The start of the ${role}`, starting);
    children.push(child);
    return child;
  };
  const stop = async () => {
    for (const child of children.toReversed()) await child.stop();
    await stopStore();
  };
  try {
    const caller = await start('caller');
    if (hasWorker) await start('worker');
    const shared = isOnMongodb && bench.pids.mongodb ? [bench.pids.mongodb] : [];
    return {
      // The process sends no other answer.
      measure: async (ms) => (await within(ms + logWithinMs, title, caller.ask(ms))) as Measured,
      pids: [pid, ...children.map((child) => child.pid), ...shared],
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Ours {
  measure: () => Promise<Measured>;
  receiver: BenchReceiver;
  /** Of an event of the service. */
  envelope: string;
}

async function compared(bench: Bench, name: EngineName, { measure, receiver, envelope }: Ours, size: Rounds) {
  const { title } = engines[name];
  const engine = await startEngine(bench, name, { url: receiver.url, envelope }).catch(reasonOf);
  if (typeof engine === 'string') return { title, missing: engine };
  try {
    return { title, sides: await sidesOf(bench, engine, { measure, receiver }, size) };
  } finally {
    await engine.stop();
  }
}

async function sidesOf(
  bench: Bench,
  engine: RunningEngine,
  { measure, receiver }: Pick<Ours, 'measure' | 'receiver'>,
  size: Rounds,
) {
  await engine.measure(warmMs);
  await receiver.since();
  let changed = 0;
  const sides = await sideBySide({
    pids: bench.pids,
    rounds: size.rounds,
    ours: measure,
    async yardstick() {
      const measured = await engine.measure(size.yardstickMs);
      changed += measured.operations;
      return measured;
    },
    clocks: {
      ours: () => treeSecondsOf(Object.values(bench.pids)) + cpuSecondsOf(process.pid),
      yardstick: () => treeSecondsOf(engine.pids),
    },
  });
  const { count } = await receiver.since();
  if (count < sides.operations + changed)
    throw new Error(`${sides.operations + changed} changes, but ${count} webhooks.`);
  return sides;
}

export async function benchEngines(bench: Bench, size: Rounds): Promise<Row[]> {
  const receiver = await startReceiver(bench);
  const merchant = await aMerchant(bench, { callers });
  await subscribe(merchant, receiver.url);
  const members = await addMembers(bench, { program: merchant.program, count: 2_000 });
  const [member] = members;
  if (!member) throw new Error('There are no members.');
  const sample = changeOf(bench, member, new Date());
  const envelope = envelopeBytes({ ...sample, eventId: sample._id }).toString();
  const measure = () =>
    wholeEffects(bench, { callers, ms: size.oursMs }, (caller) => merchant.award(ownOf(members, caller, callers)._id));
  await measure();
  const first = await measure();

  const rows: Row[] = [];
  for (const name of names) {
    log(`  ${engines[name].title} ...`);
    const { title, sides, missing } = await compared(bench, name, { measure, receiver, envelope }, size);
    const scenario = `whole effect, ${callers} callers; ${title}`;
    if (!sides) {
      const nothing = { yardstick: null, ratio: null, unit: 'effects/s', goal: '>= 1' };
      rows.push({ scenario, ours: round(first.rate), ...nothing, note: notCompared(missing) });
      continue;
    }
    const ratio = ofRates(sides.ours, sides.yardstick);
    rows.push(
      {
        scenario,
        ours: round(sides.ours.rate),
        yardstick: round(sides.yardstick.rate),
        ratio: round(ratio),
        ...sides.ratios(ofRates),
        unit: 'effects/s',
        goal: '>= 1',
        reached: ratio >= 1,
        cpu: sides.cpu,
      },
      processorRow(sides.seconds, {
        scenario: `processor time of the same, callers included; ${title}`,
        unit: 's per 1,000 effects',
        least: 1,
      }),
    );
  }
  await merchant.close();
  await receiver.stop();
  return rows;
}
