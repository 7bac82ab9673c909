// What a worker's effects are called with, for tests that call one directly: the service's own database, everything else new.
import { connectTemporal } from '../../activities/temporalClient.js';
import { createWallets } from '../../activities/wallets/wallets.js';
import type { WorkerDeps } from '../../activities/workerDeps.js';
import { createWorkerDeps } from '../../worker/workerDeps.js';
import type { TestService } from './service.js';

export interface Effects {
  deps: WorkerDeps;
  close: () => Promise<void>;
}

export async function startEffects({ store }: Pick<TestService, 'store'>): Promise<Effects> {
  const { config, log } = store;
  const wallets = await createWallets({ config, log });
  const { starter } = connectTemporal({ config, log });
  const deps = createWorkerDeps({ store, starter, wallets, log, stopping: new AbortController().signal });
  return {
    deps,
    async close() {
      await wallets.close();
      await starter.close();
    },
  };
}
