// Runs a Temporal dev server with shorter delays: with the default settings every task waits up to 50 ms and every
// short retry waits a second. Finished workflows stay visible for a week, because operators may look at them days
// later.
import { Connection } from '@temporalio/client';
import { prepareNamespace, retentionOf } from '../../platform/temporal/prepareNamespace.js';
import { searchAttributeNames } from '../../schemas/shared/searchAttributes.js';
import { accepts } from '../ports.js';
import type { ProcessPlan } from '../supervisedProcess.js';
import { until } from '../until.js';
import { type Watch, watchLimits } from '../watch.js';
import type { Engine } from './obtain.js';

const host = '127.0.0.1';
const retentionSeconds = 7 * 24 * 3_600;

const dynamicConfig = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxTimeShift="10ms"',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  'matching.enableFairness=true',
];

export interface TemporalRun {
  engine: Engine;
  namespace: string;
  port: number;
  /** The UI runs only when this port is set. */
  uiPort?: number;
  /** The file of the server's database; without it the server keeps everything in memory. */
  dbFile?: string;
  env: NodeJS.ProcessEnv;
  /** Whether the server is killed and started again when it stops answering. */
  watched?: boolean;
}

export function temporalPlan(run: TemporalRun): ProcessPlan {
  return {
    name: 'temporal',
    title: 'Temporal',
    command: run.engine.path,
    args: temporalArgs(run),
    env: run.env,
    ipc: false,
    async ready(_running, signal) {
      await until(() => accepts(host, run.port), 20, signal);
      const connection = await connected(`${host}:${run.port}`, signal);
      try {
        await until(async () => (await retentionOf(connection, run.namespace)) > 0, 50, signal);
        await prepareNamespace(connection, { namespace: run.namespace, retentionSeconds, signal });
      } finally {
        await connection.close();
      }
    },
    readyWithinMs: 60_000,
    graceMs: 8_000,
    ...(run.watched && { watch: () => watchAnswers(`${host}:${run.port}`, run.namespace) }),
  };
}

function temporalArgs({ namespace, port, uiPort, dbFile }: TemporalRun): string[] {
  const each = (flag: string, values: readonly string[]) => values.flatMap((value) => [flag, value]);
  return [
    ...['server', 'start-dev', '--ip', host, '--port', String(port), '--namespace', namespace, '--log-level', 'error'],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(dbFile === undefined ? [] : ['--db-filename', dbFile]),
    ...(dbFile === undefined ? [] : each('--sqlite-pragma', ['journal_mode=wal', 'synchronous=normal'])),
    ...each('--dynamic-config-value', dynamicConfig),
    ...each(
      '--search-attribute',
      searchAttributeNames.map((name) => `${name}=Keyword`),
    ),
  ];
}

function watchAnswers(address: string, namespace: string): Watch {
  const connection = Connection.lazy({ address, connectTimeout: watchLimits.withinMs });
  return {
    async probe() {
      await connection.withDeadline(Date.now() + watchLimits.withinMs - 500, () => retentionOf(connection, namespace));
    },
    close: () => connection.close(),
  };
}

async function connected(address: string, signal: AbortSignal): Promise<Connection> {
  for (;;) {
    try {
      return await Connection.connect({ address, connectTimeout: '2s' });
    } catch (error) {
      if (signal.aborted) throw error;
    }
  }
}
