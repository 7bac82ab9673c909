// A worker without a Temporal Worker: the dependencies of its activities, for tests that call an activity directly.
// They use the service's database; everything else is new.
import { createWallets } from '../../../activities/wallets/wallets.client.js';
import type { WorkerDeps } from '../../../activities/workerDeps.js';
import { connectTemporal } from '../../../platform/temporal/connectTemporal.js';
import { createWorkerDeps } from '../../../worker/createWorkerDeps.js';
import type { TestService } from './service.js';

export interface TestWorker {
  deps: WorkerDeps;
  close: () => Promise<void>;
}

export async function startTestWorker({ deps: base }: Pick<TestService, 'deps'>): Promise<TestWorker> {
  const { config, log } = base;
  const wallets = await createWallets({ config, log });
  const { workflowClient } = connectTemporal({ config, log });
  const deps = createWorkerDeps({ base, workflowClient, wallets, log, shutdownSignal: new AbortController().signal });
  return {
    deps,
    async close() {
      await deps.background.close();
      await wallets.close();
      await workflowClient.close();
    },
  };
}
