// Gives the demo's café its history, once, while the service runs. The row of counters that the demo's seed wrote says
// from when on it is counted, and whether it is complete (stack/demo.ts).
import { createWallets } from '../../activities/wallets/wallets.client.js';
import { readConfigOrExit } from '../../platform/config/loadConfig.js';
import { createDeps } from '../../platform/createDeps.js';
import { createLog } from '../../platform/log.js';
import type { WorkflowClient } from '../../platform/temporal/workflowClient.js';
import { createWorkerDeps } from '../../worker/createWorkerDeps.js';
import { demoMerchantId, historyId, programs } from '../demo.js';
import { makeHistory } from './history.js';
import { tellStory } from './story.js';

for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(signal, () => process.exit(0));

const config = { ...readConfigOrExit(), SMTP_URL: undefined, MAIL_FOLDER: undefined };
const log = createLog(config, 'cafe');
const base = createDeps({ config, log, timeouts: 'tool' });

/** Workflows would work by the clock of today: what they would do is done here. */
const workflowClient: WorkflowClient = {
  available: () => true,
  backlogMs: () => 0,
  start: async () => undefined,
  awaitPassIssuance: async () => null,
  cancel: async () => undefined,
  close: async () => undefined,
};

process.send?.('ready');
const since = performance.now();
const row = await base.collections.counters.findOne({ _id: historyId, merchantId: demoMerchantId });
const key = await base.collections.apiKeys.findOne({ merchantId: demoMerchantId, name: 'Demo key' });
if (row?.at && !row.made && key) {
  // Without credentials: a history in stub mode reaches no phone.
  const wallets = await createWallets({
    config: { ...config, APPLE_PASS_TYPE_ID: undefined, GOOGLE_WALLET_ISSUER_ID: undefined },
    log,
  });
  const { signal } = new AbortController();
  const deps = createWorkerDeps({ base, workflowClient, wallets, log, shutdownSignal: signal });
  const story = tellStory(row.at);
  await makeHistory(deps, {
    ...{ story, merchantId: demoMerchantId, programs },
    actor: { type: 'api-key', id: key._id, name: key.name },
    receiver: process.env.LIVE_DESK_URL ?? '',
  });
  await base.collections.counters.updateOne({ _id: historyId }, { $set: { made: 1 } });
  process.send?.({ made: `The café of the demo has ${story.guests.length} customers and 60 days of history.` });
  log.info(
    { cpu: process.cpuUsage(), ms: Math.round(performance.now() - since), acts: story.acts.length },
    'the history is complete',
  );
}
process.exit(0);
