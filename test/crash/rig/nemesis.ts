// Kills, stops and continues the processes of a cluster one after the other, as chosen by the seed.

import { wedge } from '../../rig/standins/wedge.js';
import { apiNames, type Cluster, type ProcessName, workerNames } from './cluster.js';
import type { Random } from './random.js';

type Blow =
  | 'kill api'
  | 'kill worker'
  | 'kill mongodb'
  | 'kill temporal'
  | 'stop api'
  | 'stop worker'
  | 'stop engine'
  | 'hang engine'
  | 'wedge mongodb'
  | 'wipe temporal'
  | 'terminate workflows';

const weights: Record<Blow, number> = {
  'kill api': 34,
  'kill worker': 28,
  'kill mongodb': 10,
  'kill temporal': 10,
  'stop api': 6,
  'stop worker': 7,
  'stop engine': 5,
  'hang engine': 2,
  'wedge mongodb': 3,
  'wipe temporal': 6,
  'terminate workflows': 5,
};

export interface Nemesis {
  /** The number of kills for each process. */
  kills: Map<ProcessName, number>;
  stops: number;
  /** How often Temporal lost all its data. */
  wipes: number;
  /** The number of workflows that were terminated. */
  terminations: number;
  /** Ends the nemesis; a stopped process is continued. */
  end(): Promise<void>;
}

export interface NemesisInput {
  cluster: Cluster;
  random: Random;
  /** The mean time between two strikes. */
  everyMs: number;
  /** The maximum number of kills. */
  most?: number;
}

export function startNemesis({ cluster, random, everyMs, most = Number.POSITIVE_INFINITY }: NemesisInput): Nemesis {
  const kills = new Map<ProcessName, number>();
  const ending = new AbortController();
  const nemesis = { kills, stops: 0, wipes: 0, terminations: 0, end };
  let blows = 0;

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        ending.signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      ending.signal.addEventListener('abort', done);
    });

  const kill = (name: ProcessName): void => {
    if (!cluster.signal(name, 'SIGKILL')) return;
    kills.set(name, (kills.get(name) ?? 0) + 1);
    blows += 1;
  };

  /** Stops a process for `ms` and then continues it. */
  const stop = async (name: ProcessName, ms: number): Promise<void> => {
    if (!cluster.signal(name, 'SIGSTOP')) return;
    nemesis.stops += 1;
    const pid = cluster.pidOf(name);
    await wait(ms);
    if (pid !== undefined && cluster.pidOf(name) === pid) cluster.signal(name, 'SIGCONT');
  };

  const hang = (name: ProcessName): void => {
    if (cluster.signal(name, 'SIGSTOP')) nemesis.stops += 1;
  };

  /** Each running workflow, with a probability of a half, schedules and relays included. */
  const terminate = async (): Promise<void> => {
    const { workflow } = cluster.temporal;
    for await (const { workflowId } of workflow.list({ query: 'ExecutionStatus = "Running"' })) {
      if (!random.chance(0.5)) continue;
      await workflow.getHandle(workflowId).terminate('by the nemesis');
      nemesis.terminations += 1;
    }
  };

  const wipe = async (): Promise<void> => {
    if (cluster.pidOf('temporal') === undefined) return;
    nemesis.wipes += 1;
    await cluster.wipeTemporal();
  };

  async function strike(blow: Blow): Promise<void> {
    if (blow === 'wipe temporal') return wipe();
    // Temporal may be unavailable, or hang.
    if (blow === 'terminate workflows')
      return cluster.temporal.withDeadline(Date.now() + 10_000, terminate).catch(() => undefined);
    if (blow === 'kill api') return kill(random.pick(apiNames));
    if (blow === 'kill worker') return kill(random.pick(workerNames));
    if (blow === 'kill mongodb') return kill('mongodb');
    if (blow === 'kill temporal') return kill('temporal');
    if (blow === 'stop api') return stop(random.pick(apiNames), 5_000);
    if (blow === 'stop worker') return stop(random.pick(workerNames), 7_000);
    if (blow === 'stop engine') return stop(random.pick(['mongodb', 'temporal'] as const), 2_500);
    // Only the supervisor ends a process in these two cases.
    if (blow === 'hang engine') return hang(random.pick(['mongodb', 'temporal'] as const));
    nemesis.stops += 1;
    const collection = random.pick(['members', 'events', 'ledger', 'deliveries'] as const);
    await wedge(cluster.env.MONGODB_URI ?? '', { database: cluster.deps.config.MONGODB_DATABASE, collection }).catch(
      () => undefined,
    );
  }

  const running = (async () => {
    while (!ending.signal.aborted && blows < most) {
      await wait(everyMs * (0.5 + random.next()));
      if (ending.signal.aborted) break;
      await strike(random.weighted(weights));
    }
  })();

  async function end(): Promise<void> {
    ending.abort();
    await running;
  }
  return nemesis;
}
