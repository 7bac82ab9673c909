// Hosts the yardsticks' workflows in a separate process, like the service's worker.
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const [address = ''] = process.argv.slice(2);
// Registered before any slow step, because otherwise an end of the bench during that step would not be noticed.
process.once('disconnect', () => process.exit(0));

Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
const connection = await NativeConnection.connect({ address });
const workflowBundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('yardstickWorkflows.ts', import.meta.url)),
  logger: new DefaultLogger('ERROR'),
});
const worker = await Worker.create({
  connection,
  taskQueue: 'yardstick',
  workflowBundle,
  activities: { nothing: async () => 'nothing' },
});
const running = worker.run();
process.send?.('ready');
process.once('SIGTERM', () => worker.shutdown());
await running;
await connection.close();
process.exit(0);
