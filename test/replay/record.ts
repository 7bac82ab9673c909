// `npm run record`: runs each scenario without a stored history and stores the history that the server recorded. A
// stored history is never overwritten, because it represents executions that may still be running.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type History, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { WorkflowName } from '../../schemas/tables/workflows.js';
import { readOptions } from '../../stack/readOptions.js';
import { bundleWorkflows } from '../../worker/workflowBundle.js';
import { startEngines } from '../rig/start/engines.js';
import { startWorkflowWorker, type WorkflowWorker } from '../rig/start/workflowWorker.js';
import { play, scenarios } from './scenarios.js';

readOptions('Usage: npm run record\n\nRecords the history of each scenario that has none yet.', {});

const histories = fileURLToPath(new URL('histories/', import.meta.url));
const fileOf = (name: string, scenario: string): string => join(histories, name, `${scenario}.json`);

/** Removes the machine's identity and stack traces; a replay does not use them. */
function withoutMachine(key: string, value: unknown): unknown {
  return key === 'identity' || key === 'stackTrace' ? '' : value;
}

async function keep(file: string, history: History): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const recorded: unknown = JSON.parse(historyToJSON(history), withoutMachine);
  await writeFile(file, `${JSON.stringify(recorded, null, 1)}\n`);
}

async function record<N extends WorkflowName>(worker: WorkflowWorker, name: N): Promise<void> {
  for (const [scenario, make] of Object.entries(scenarios[name])) {
    const file = fileOf(name, scenario);
    if (existsSync(file)) continue;
    const history = await play(worker, { name, scenario: make() });
    await keep(file, history);
    process.stdout.write(`recorded ${name}/${scenario}: ${history.events?.length ?? 0} events\n`);
  }
}

const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-record-'));
const workflowBundle = join(folder, 'workflows.cjs');
const engines = await startEngines({ mongo: false });
try {
  await writeFile(workflowBundle, (await bundleWorkflows()).code);
  const worker = await startWorkflowWorker({ temporalAddress: engines.temporalAddress, workflowBundle });
  for (const name of Object.keys(scenarios) as WorkflowName[]) await record(worker, name);
  await worker.stop();
} finally {
  await engines.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);
