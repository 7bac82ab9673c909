// Kills, stops and continues the processes of a cluster, as its seed says, one blow after the other.
import { apiNames, type Cluster, type ProcessName, workerNames } from './cluster.js';
import type { Random } from './random.js';

type Blow = 'kill api' | 'kill worker' | 'kill mongodb' | 'kill temporal' | 'stop api' | 'stop worker' | 'stop engine';

const weights: Record<Blow, number> = {
  'kill api': 34,
  'kill worker': 28,
  'kill mongodb': 10,
  'kill temporal': 10,
  'stop api': 6,
  'stop worker': 7,
  'stop engine': 5,
};

export interface Nemesis {
  /** Deaths by its hand, for each process. */
  kills: Map<ProcessName, number>;
  stops: number;
  /** Ends it; what it stopped goes on. */
  end(): Promise<void>;
}

export interface NemesisInput {
  cluster: Cluster;
  random: Random;
  /** The mean wait between two blows. */
  everyMs: number;
  /** No more blows than this. */
  most?: number;
}

export function unleash({ cluster, random, everyMs, most = Number.POSITIVE_INFINITY }: NemesisInput): Nemesis {
  const kills = new Map<ProcessName, number>();
  const ending = new AbortController();
  const nemesis = { kills, stops: 0, end };
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

  /** Still for some seconds, then on as if nothing had been. */
  const stop = async (name: ProcessName, ms: number): Promise<void> => {
    if (!cluster.signal(name, 'SIGSTOP')) return;
    nemesis.stops += 1;
    const pid = cluster.pidOf(name);
    await wait(ms);
    if (pid !== undefined && cluster.pidOf(name) === pid) cluster.signal(name, 'SIGCONT');
  };

  async function strike(blow: Blow): Promise<void> {
    if (blow === 'kill api') return kill(random.pick(apiNames));
    if (blow === 'kill worker') return kill(random.pick(workerNames));
    if (blow === 'kill mongodb') return kill('mongodb');
    if (blow === 'kill temporal') return kill('temporal');
    if (blow === 'stop api') return stop(random.pick(apiNames), 5_000);
    if (blow === 'stop worker') return stop(random.pick(workerNames), 7_000);
    return stop(random.pick(['mongodb', 'temporal'] as const), 2_500);
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
