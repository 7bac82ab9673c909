// The Temporal SDK of this process: its log lines go into ours, with workflow and activity as fields, and its metrics are
// served on a loopback port that only this process reads (activities/metrics/metricsServer.ts).
import { once } from 'node:events';
import { createServer } from 'node:net';
import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Answers where the SDK's metrics are. Once for each process, before any connection. */
export async function installRuntime(log: Logger): Promise<{ sdkMetricsUrl: string }> {
  const bindAddress = `127.0.0.1:${await freePort()}`;
  Runtime.install({
    logger: new DefaultLogger('WARN', (entry) => log[levels[entry.level]](fieldsOf(entry), entry.message)),
    shutdownSignals: [],
    telemetryOptions: {
      metrics: {
        prometheus: { bindAddress, countersTotalSuffix: true, useSecondsForDurations: true, unitSuffix: true },
      },
    },
  });
  return { sdkMetricsUrl: `http://${bindAddress}/metrics` };
}

/** What the SDK says of a line, but not the inputs that it may have at hand. */
function fieldsOf({ meta = {} }: LogEntry): Record<string, unknown> {
  const { error, workflowId, workflowType, runId, activityId, activityType, attempt, taskQueue, ...rest } = meta;
  return {
    ...(error !== undefined && { err: error }),
    workflowId,
    workflowType,
    runId,
    activityId,
    activityType,
    attempt,
    taskQueue,
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => typeof value !== 'object')),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('No free port on the loopback interface.');
  return address.port;
}
