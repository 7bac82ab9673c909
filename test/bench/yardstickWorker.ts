// Hosts the workflows of the yardsticks in a process of its own, as ours have one.
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const [address = ''] = process.argv.slice(2);

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
process.once('disconnect', () => worker.shutdown());
await running;
await connection.close();
process.exit(0);
