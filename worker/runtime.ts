// Configures the Temporal SDK of this process. The SDK's log lines go to our log, with workflow and activity as fields.
// Its metrics are served on a loopback port that only this process reads (platform/metrics/metricsServer.ts).
import { once } from 'node:events';
import { createServer } from 'node:net';
import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Returns the URL of the SDK's metrics. Call it once in each process, before any connection to Temporal. */
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

/** The SDK's fields of a log line without object values, which may contain workflow inputs. */
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
