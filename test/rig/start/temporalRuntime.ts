// Installs the Temporal runtime of a test process; its warnings go to the log that is printed when a test fails.
import { DefaultLogger, type NativeConnection, Runtime } from '@temporalio/worker';
import { failureLog } from '../checks/failureLog.js';

const runtimeLogger = new DefaultLogger('WARN', ({ level, message, timestampNanos, meta }) => {
  const time = Number(timestampNanos / 1_000_000n);
  const error = meta?.error instanceof Error ? meta.error.message : undefined;
  failureLog.write(JSON.stringify({ level, time, workflowId: meta?.workflowId, msg: message, error }));
});
let runtimeInstalled = false;

/** A process may install one runtime only, however many workers its test files start. */
export function installRuntime(): void {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  Runtime.install({ logger: runtimeLogger, shutdownSignals: [] });
}

/**
 * Takes back what a worker's connection leaves in the process when it closes: a storage of contexts, which each later
 * promise of the fork would carry on.
 */
export function forgetContexts({ callContextStorage }: NativeConnection): void {
  callContextStorage.disable();
}
