// A process of an engine: `process.ts caller|worker PLACE`. On each message the caller makes changes for that time, waits
// until all of their deliveries are logged, and answers with what it measured.
import { until } from '../../../stack/until.js';
import { closedLoop, type Measured, ownOf } from '../load.js';
import { concurrency } from './delivery.js';
import { type Engine, memberIds, type Place } from './engine.js';

const engines = {
  bullmq: async () => (await import('./bullmq.js')).bullmq,
  dbos: async () => (await import('./dbos.js')).dbos,
  graphileWorker: async () => (await import('./graphileWorker.js')).graphileWorker,
  pgBoss: async () => (await import('./pgBoss.js')).pgBoss,
  restate: async () => (await import('./restate.js')).restate,
} satisfies Record<string, () => Promise<Engine>>;
export type EngineName = keyof typeof engines;

const loggedEveryMs = 50;
const loggedWithinMs = 60_000;

// Registered before any slow step, because otherwise an end of the bench during that step would not be noticed.
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));

const [role, argument = ''] = process.argv.slice(2);
const place: Place = JSON.parse(argument);
const engine = await engines[place.name as EngineName]();

async function startCaller(): Promise<void> {
  const { change, logged } = await engine.startCaller(place);
  let total = 0;
  process.on('message', async (message) => {
    const began = performance.now();
    const load = await closedLoop({ callers: concurrency, ms: Number(message) }, (caller) =>
      change(ownOf(memberIds, caller, concurrency)),
    );
    total += load.operations;
    await until(async () => (await logged()) >= total, loggedEveryMs, AbortSignal.timeout(loggedWithinMs));
    const measured: Measured = { ...load, rate: load.operations / ((performance.now() - began) / 1_000) };
    process.send?.(measured);
  });
}

await (role === 'worker' ? engine.startWorker?.(place) : startCaller());
process.send?.('ready');
