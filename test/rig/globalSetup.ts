// The engines of one test run, and the workflow bundle, made once for all files.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundleWorkflows } from '../../worker/workflowBundle.js';
import { startEngines } from './engines.js';

declare module 'vitest' {
  export interface ProvidedContext {
    mongodbUri: string;
    temporalAddress: string;
    workflowBundle: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-bundle-'));
  const [engines, bundle] = await Promise.all([startEngines({}), bundleWorkflows()]);
  const workflowBundle = join(folder, 'workflows.cjs');
  await writeFile(workflowBundle, bundle.code);
  project.provide('mongodbUri', engines.mongodbUri);
  project.provide('temporalAddress', engines.temporalAddress);
  project.provide('workflowBundle', workflowBundle);
  // For all projects: the test of the whole run reads what the tests of this one called.
  if (project.name === 'engines') project.vitest.provide('seenDir', folder);
  return async () => {
    await engines.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
