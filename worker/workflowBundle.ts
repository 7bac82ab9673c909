// Workflow code as the worker runs it. A built service has its bundle beside it, made once by `npm run build`; run from its
// sources, it is bundled at start, so that it is never older than they are.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from '@temporalio/worker';

const built = import.meta.url.endsWith('.js');
const builtBundle = fileURLToPath(new URL('../workflows.cjs', import.meta.url));

export function bundleWorkflows(): Promise<WorkflowBundle> {
  const workflowsPath = fileURLToPath(new URL(`../workflows/index.${built ? 'js' : 'ts'}`, import.meta.url));
  return bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
}

export async function workflowBundle(): Promise<WorkflowBundle | { codePath: string }> {
  return built && existsSync(builtBundle) ? { codePath: builtBundle } : bundleWorkflows();
}

// `npm run build` runs this file itself.
if (built && process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { code } = await bundleWorkflows();
  await writeFile(builtBundle, code);
}
