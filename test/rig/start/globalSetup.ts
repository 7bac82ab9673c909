// Starts one MongoDB and one Temporal for each fork of a test run, and builds the workflow bundle once for all files.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundleWorkflows } from '../../../worker/workflowBundle.js';
import { startEngines } from './engines.js';
import type {} from './forkEngines.js';

declare module 'vitest' {
  export interface ProvidedContext {
    workflowBundle: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-bundle-'));
  // The workflow project fakes its activities, so it needs no database.
  const mongo = project.name !== 'workflow';
  const forks = project.config.maxWorkers;
  const bundling = bundleWorkflows();
  // The first pair starts alone, so that engines that have to be built are built once.
  const first = await startEngines({ mongo });
  const others = await Promise.all(Array.from({ length: forks - 1 }, () => startEngines({ mongo })));
  const engines = [first, ...others];
  const bundle = await bundling;
  const workflowBundle = join(folder, 'workflows.cjs');
  await writeFile(workflowBundle, bundle.code);
  project.provide(
    'engines',
    engines.map(({ mongodbUri, mongodbKind, temporalAddress }) => ({
      mongodbUri,
      mongodbEmbedded: mongodbKind === 'secantusd',
      temporalAddress,
    })),
  );
  project.provide('workflowBundle', workflowBundle);
  // Provided to all projects: the test of the whole run reads which operations the tests of this project called.
  if (mongo) project.vitest.provide('seenDir', folder);
  return async () => {
    await Promise.all(engines.map((each) => each.stop()));
    await rm(folder, { recursive: true, force: true });
  };
}
